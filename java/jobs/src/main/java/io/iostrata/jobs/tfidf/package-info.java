/**
 * Classifies HTTP requests by TF-IDF and cosine, as the Hadoop workload of the paper S4 does
 * (section 3.2): each map reads the whole model from HDFS, and there is no reduce.
 *
 * <p>The requests are a look-alike of those of the ECML/PKDD 2007 Discovery Challenge: same form,
 * classes and shares, none of its data.
 */
package io.iostrata.jobs.tfidf;
