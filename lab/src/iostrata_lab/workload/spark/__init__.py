"""Workloads on Spark, by pyspark of the extra `spark`, on the interface of all.

It imports nothing: a driver finds its program here, where no package but pyspark is installed.
"""
