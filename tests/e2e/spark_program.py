"""An application of Spark that writes, shuffles and spills in every way: MASTER FOLDER EVENTS.

All limits are so low that a few thousand records make it spill.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pyspark
from pyspark.ml.feature import CountVectorizer
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

RECORDS = 6000
WORDS = 400  # as many keys are combined
ONE_COMPILER = "-XX:TieredStopAtLevel=1"  # nothing runs for long enough to be worth the second


def main(master: str, folder: str, events: str) -> None:
    home = os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    settings: dict[str, Any] = {
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events,
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.default.parallelism": "3",
        "spark.shuffle.sort.bypassMergeThreshold": "2",
        "spark.shuffle.spill.numElementsForceSpillThreshold": "100",
        "spark.executor.instances": "2",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": ONE_COMPILER,
        "spark.driver.memory": "512m",
        "spark.yarn.am.extraJavaOptions": ONE_COMPILER,
        "spark.yarn.jars": f"local:{home}/jars/*",
        # tasks go to both, whoever has the data
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.locality.wait": "0",
    }
    builder = SparkSession.builder.appName("spark_program")
    spark = builder.config(map=settings).getOrCreate()
    context = spark.sparkContext

    numbers = context.range(RECORDS, numSlices=2)
    numbers.map(lambda i: f"w{i % WORDS} {i}").saveAsTextFile(folder)
    lines = context.textFile(folder, 2)
    pairs = lines.map(lambda line: (line.split()[0], line))
    # two partitions are written each to a file, three are sorted by key
    assert pairs.groupByKey(2).count() == WORDS
    assert pairs.groupByKey(3).count() == WORDS
    # rows are sorted as they are serialized
    rows = spark.read.text(folder).repartition(3).sortWithinPartitions("value")
    assert rows.select(f.sum(f.length("value"))).collect()[0][0] > 0
    # keys are combined by Spark itself, before the shuffle and behind it
    words = rows.select(f.split("value", " ").alias("words"))
    found = CountVectorizer(inputCol="words", outputCol="counts", vocabSize=50).fit(words)
    assert len(found.vocabulary) == 50
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
