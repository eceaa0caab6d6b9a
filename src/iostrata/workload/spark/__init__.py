"""Workloads on Spark, by pyspark of the extra `spark`, on the interface of all."""

from iostrata.workload.spark.workloads import BAYES, LOGISTIC, NWEIGHT, PAGERANK

SPARK = (PAGERANK, LOGISTIC, BAYES, NWEIGHT)
