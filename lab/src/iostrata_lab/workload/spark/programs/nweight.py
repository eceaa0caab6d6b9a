"""N-weight as HiBench has it: how strongly vertices are tied over paths of n edges.

The weight of a path is the product of its edges', that of a pair the sum over its paths: the n-th
power of the matrix of weights, where `most` does not cut it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from iostrata_lab.workload.spark.session import ProgramArguments, main

SCHEMA = "source long, target long, weight double"
TOP = 5


def make(spark: Any, arguments: ProgramArguments) -> None:
    """Lines SOURCE TAB TARGET TAB WEIGHT; the weights of the edges of a source sum up to 1."""
    vertices, edges, seed = arguments.values["vertices"], arguments.values["edges"], arguments.seed

    def lines(source: int) -> Iterator[str]:
        draws = random.Random(f"{seed} {source}")
        steps = draws.sample(range(1, vertices), edges)  # none to itself
        weights = [draws.random() + 0.01 for _ in steps]
        for step, weight in zip(steps, weights, strict=True):
            yield f"{source}\t{(source + step) % vertices}\t{weight / sum(weights)!r}"

    numbers = spark.sparkContext.range(vertices, numSlices=arguments.values["partitions"])
    numbers.flatMap(lines).saveAsTextFile(arguments.input)


def work(spark: Any, arguments: ProgramArguments) -> dict[str, Any]:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    edges = spark.read.csv(arguments.input, sep="\t", schema=SCHEMA).cache()
    step = edges.selectExpr("source as target", "target as next", "weight as by")
    strongest = Window.partitionBy("source").orderBy(f.desc("weight"), "target")
    tied = edges
    for _ in range(arguments.values["hops"] - 1):
        longer = tied.join(step, "target").selectExpr("source", "next", "weight * by as weight")
        tied = longer.groupBy("source", f.col("next").alias("target")).agg(
            f.sum("weight").alias("weight")
        )
        if arguments.values["most"]:
            ranked = tied.withColumn("place", f.row_number().over(strongest))
            tied = ranked.filter(ranked.place <= arguments.values["most"]).drop("place")
    tied = tied.cache()
    tied.write.csv(f"{arguments.folder}/out", sep="\t")
    pairs, total = tied.selectExpr("count(*)", "sum(weight)").collect()[0]
    heaviest = tied.orderBy(f.desc("weight"), "source", "target").limit(TOP).collect()
    return {
        "vertices": arguments.values["vertices"],
        "edges": edges.count(),
        "pairs": pairs,
        "weight_sum": total,
        "heaviest": [row.asDict() for row in heaviest],
    }


if __name__ == "__main__":
    main(make, work)
