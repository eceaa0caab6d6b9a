#!/usr/bin/env python3
"""Sorts the lines of a text by Spark on YARN: the job of Spark that `changes.py` measures.

    sorting.py IN OUT [SETTING=VALUE ...]

Two executors of two tasks at once, eight parts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

SETTINGS = {
    "spark.executor.instances": "2",
    "spark.executor.cores": "2",
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.speculation": "false",
    "spark.ui.enabled": "false",
    "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent}/jars/*",
}


def main() -> None:
    source, target, *given = sys.argv[1:]
    builder = SparkSession.builder.master("yarn").appName("sorting")
    for name, value in (SETTINGS | dict(one.split("=", 1) for one in given)).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.read.text(source).sort("value").write.text(target)
    spark.stop()


if __name__ == "__main__":
    main()
