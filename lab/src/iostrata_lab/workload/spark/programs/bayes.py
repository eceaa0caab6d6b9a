"""Naive Bayes over documents of classes that have words of their own, by Spark's own library."""

from __future__ import annotations

import random
from typing import Any

from iostrata_lab.workload.spark.session import ProgramArguments, main

TRAINED_ON = 0.8
OWN_WORDS = 100  # of each class


def make(spark: Any, arguments: ProgramArguments) -> None:
    """Lines CLASS TAB WORDS: a word is one of the class with `signal`, else a common one."""
    values, seed = arguments.values, arguments.seed

    def line(document: int) -> str:
        draws = random.Random(f"{seed} {document}")
        label = draws.randrange(values["classes"])
        words = []
        for _ in range(values["words"]):
            if draws.random() < values["signal"]:
                words.append(f"c{label}w{draws.randrange(OWN_WORDS)}")
            else:  # few words are frequent, most are rare
                words.append(f"w{int(values['vocabulary'] * draws.random() ** 3)}")
        return f"{label}\t{' '.join(words)}"

    documents = spark.sparkContext.range(values["documents"], numSlices=values["partitions"])
    documents.map(line).saveAsTextFile(arguments.input)


def work(spark: Any, arguments: ProgramArguments) -> dict[str, Any]:
    """Trains on most documents, judges by the others."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import HashingTF, Tokenizer

    rows = spark.read.csv(arguments.input, sep="\t", schema="label double, text string")
    training, others = rows.randomSplit([TRAINED_ON, 1 - TRAINED_ON], arguments.seed)
    steps: list[Any] = [
        Tokenizer(inputCol="text", outputCol="words"),
        HashingTF(numFeatures=arguments.values["buckets"], inputCol="words", outputCol="features"),
        NaiveBayes(smoothing=1.0),
    ]
    model = Pipeline(stages=steps).fit(training)
    model.write().save(f"{arguments.folder}/model")
    judged = model.transform(others).selectExpr("count(*)", "avg(int(prediction = label))")
    counted, accuracy = judged.collect()[0]
    return {
        "trained_on": training.count(),
        "judged_by": counted,
        "accuracy": accuracy,
        "accuracy_of_a_guess": 1 / arguments.values["classes"],
    }


if __name__ == "__main__":
    main(make, work)
