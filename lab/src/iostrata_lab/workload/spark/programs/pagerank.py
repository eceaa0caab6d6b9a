"""PageRank as HiBench has it: links joined with ranks, contributions summed, again and again.

A page has no link to itself and at least one to another, so no rank is lost: all ranks together
are as many as there are pages.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from operator import add
from typing import Any

from iostrata_lab.workload.spark.session import ProgramArguments, main

DAMPING = 0.85
TOP = 5


def make(spark: Any, arguments: ProgramArguments) -> None:
    """Lines SOURCE TAB TARGET; pages of low numbers are linked to more often."""
    pages, links, seed = arguments.values["pages"], arguments.values["links"], arguments.seed

    def lines(page: int) -> Iterator[str]:
        draws = random.Random(f"{seed} {page}")
        for _ in range(1 + int(draws.expovariate(1.0) * (links - 1))):
            target = int(pages * draws.random() ** 2)
            yield f"{page}\t{(target + 1) % pages if target == page else target}"

    numbers = spark.sparkContext.range(pages, numSlices=arguments.values["partitions"])
    numbers.flatMap(lines).saveAsTextFile(arguments.input)


def work(spark: Any, arguments: ProgramArguments) -> dict[str, Any]:
    partitions = arguments.values["partitions"]

    def link(line: str) -> tuple[int, int]:
        source, _, target = line.partition("\t")
        return int(source), int(target)

    def shares(page: tuple[int, tuple[Iterable[int], float]]) -> Iterator[tuple[int, float]]:
        source, (targets, rank) = page
        yield source, 0.0  # also pages that nobody links to have a rank
        count = len(list(targets))
        for target in targets:
            yield target, rank / count

    lines = spark.sparkContext.textFile(arguments.input, partitions)
    links = lines.map(link).distinct(partitions).groupByKey(partitions).cache()
    ranks = links.mapValues(lambda _: 1.0)
    for _ in range(arguments.values["iterations"]):
        summed = links.join(ranks, partitions).flatMap(shares).reduceByKey(add, partitions)
        ranks = summed.mapValues(lambda sum_: 1 - DAMPING + DAMPING * sum_)
    ranks.cache()
    ranks.saveAsTextFile(f"{arguments.folder}/out")
    top = ranks.takeOrdered(TOP, key=lambda page: (-page[1], page[0]))
    return {
        "pages": ranks.count(),
        "links": links.values().map(len).sum(),
        "rank_sum": ranks.values().sum(),
        "top": [{"page": page, "rank": rank} for page, rank in top],
    }


if __name__ == "__main__":
    main(make, work)
