"""Logistic regression of examples whose labels follow planted weights, by Spark's own library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iostrata_lab.workload.spark.session import ProgramArguments, main

TRAINED_ON = 0.8
SCHEMA = "label double, features array<double>"


def make(spark: Any, arguments: ProgramArguments) -> None:
    """Normal features; the label is the side of the planted plane that they, with noise, are on."""
    partitions, examples = arguments.values["partitions"], arguments.values["examples"]
    noise, seed = arguments.values["noise"], arguments.seed
    weights = planted(arguments)

    def rows(part: int) -> Iterator[tuple[float, list[float]]]:
        import numpy as np

        draws = np.random.default_rng([seed, 1, part])
        for _ in range(part, examples, partitions):
            features = draws.standard_normal(len(weights))
            side = features @ np.array(weights) + noise * draws.standard_normal()
            yield float(side > 0), features.tolist()

    parts = spark.sparkContext.range(partitions, numSlices=partitions)
    spark.createDataFrame(parts.flatMap(rows), SCHEMA).write.parquet(arguments.input)


def planted(arguments: ProgramArguments) -> list[float]:
    """Weights of length 1."""
    import numpy as np

    weights = np.random.default_rng([arguments.seed, 0]).standard_normal(
        arguments.values["features"]
    )
    found: list[float] = (weights / np.linalg.norm(weights)).tolist()
    return found


def work(spark: Any, arguments: ProgramArguments) -> dict[str, Any]:
    """Trains on most examples, judges by the others."""
    import numpy as np
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.functions import array_to_vector

    rows = spark.read.parquet(arguments.input)
    rows = rows.select("label", array_to_vector(rows.features).alias("features"))
    training, others = rows.randomSplit([TRAINED_ON, 1 - TRAINED_ON], arguments.seed)
    training.cache()
    trainer = LogisticRegression(maxIter=arguments.values["iterations"], regParam=1e-4)
    model = trainer.fit(training)
    model.write().save(f"{arguments.folder}/model")
    judged = model.transform(others).selectExpr("count(*)", "avg(int(prediction = label))")
    counted, accuracy = judged.collect()[0]
    found = model.coefficients.toArray()
    return {
        "trained_on": training.count(),
        "judged_by": counted,
        "accuracy": accuracy,
        "iterations": model.summary.totalIterations,
        "cosine_to_planted": float(found @ np.array(planted(arguments)) / np.linalg.norm(found)),
    }


if __name__ == "__main__":
    main(make, work)
