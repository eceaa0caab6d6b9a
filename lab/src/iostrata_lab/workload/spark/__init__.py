"""Workloads on Spark, by pyspark of the extra `spark`, on the interface of all."""

from iostrata_lab.workload.spark.workloads import BAYES, LOGISTIC, NWEIGHT, PAGERANK

SPARK = (PAGERANK, LOGISTIC, BAYES, NWEIGHT)
