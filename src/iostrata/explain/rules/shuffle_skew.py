"""One reduce gets much more than the others."""

from __future__ import annotations

import ibis

from iostrata.analyse.attempts import Straggler, stragglers
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.text import seconds, size

TIMES = 3
LEAST = 1 << 20  # bytes


@rule(
    title="One reduce has most of the data (skew)",
    evidence=Query(lambda _: stragglers().filter(ibis._.role == "reduce"), Straggler),
    why="The job ends when its last reduce ends: reduces with little data wait for the one that "
    "has much.",
    unless="one key holds most of the data, and its reduce cannot be divided.",
    explains=("straggler",),
)
def judge(rows: list[Straggler], facts: RunFacts) -> Judgement | None:
    skewed = [
        row
        for row in rows
        if row.attempts > 1
        and row.most_fetched >= max(LEAST, TIMES * max(1, row.median_fetched))
        and row.longest > row.median
    ]
    worst = max(skewed, key=lambda row: row.longest - row.median, default=None)
    if worst is None:
        return None
    cost = worst.longest - worst.median
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"one of {worst.attempts} reduces fetched {size(worst.most_fetched)}, while the "
        f"median is {size(worst.median_fetched)}; the longest reduce ran {seconds(cost)} longer "
        "than the median",
        evidence=[
            Evidence("most bytes that a reduce fetched", worst.most_fetched, "bytes"),
            Evidence("median of the bytes that reduces fetched", worst.median_fetched, "bytes"),
            Evidence("time of the longest reduce", worst.longest, "ns"),
            Evidence("median time of the reduces", worst.median, "ns"),
            Evidence("longest reduce", worst.slowest, "text"),
        ],
        change=[
            Change("use a partitioner that spreads frequent keys (salt them, or sample ranges)"),
            Change("use a combiner, so that frequent keys shrink before the shuffle"),
        ],
    )
