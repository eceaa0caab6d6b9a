package io.iostrata.jobs.tfidf;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/** Counts the terms of each class, and weighs them: one job, whose one reduce writes the model. */
final class Training {
  private Training() {}

  /** Of each request its terms. */
  static final class Count extends Mapper<LongWritable, Text, Text, Occurrences> {
    private final Terms terms = new Terms();
    private final Text term = new Text();
    private final Occurrences occurrences = new Occurrences();

    @Override
    protected void map(LongWritable key, Text record, Context context)
        throws IOException, InterruptedException {
      Request request = new Request(record);
      for (Map.Entry<Text, Integer> one : counts(record, request).entrySet()) {
        term.set(one.getKey());
        occurrences.set(request.label.ordinal(), one.getValue());
        context.write(term, occurrences);
      }
    }

    private Map<Text, Integer> counts(Text record, Request request) {
      Map<Text, Integer> counts = new HashMap<>();
      terms.of(record.getBytes(), request.from, request.to);
      while (terms.next()) {
        counts.merge(new Text(Arrays.copyOf(terms.bytes(), terms.length())), 1, Integer::sum);
      }
      return counts;
    }
  }

  /** Adds up within a map. */
  static final class Combine extends Reducer<Text, Occurrences, Text, Occurrences> {
    private final Occurrences sum = new Occurrences();

    @Override
    protected void reduce(Text term, Iterable<Occurrences> values, Context context)
        throws IOException, InterruptedException {
      long[] counts = Occurrences.sums(values);
      for (int label = 0; label < counts.length; label++) {
        if (counts[label] > 0) {
          sum.set(label, counts[label]);
          context.write(term, sum);
        }
      }
    }
  }

  /** Of each term its weights; none of one that is in all classes, which tells nothing. */
  static final class Weigh extends Reducer<Text, Occurrences, Text, TermWeights> {
    private final TermWeights weights = new TermWeights();

    @Override
    protected void reduce(Text term, Iterable<Occurrences> values, Context context)
        throws IOException, InterruptedException {
      weights.weigh(term, Occurrences.sums(values));
      if (weights.idf() > 0) {
        context.write(term, weights);
      }
    }
  }
}
