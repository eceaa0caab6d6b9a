"""One reduce, or one task of a stage of Spark, gets much more than the others."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import Straggler, stragglers
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import even_reduces
from iostrata.text import seconds, size

TIMES = 3
LEAST = 1 << 20  # bytes


_SPREAD = Change("use a partitioner that spreads frequent keys (salt them, or sample ranges)")
_CHANGES = {
    "reduce": [_SPREAD, Change("use a combiner, so that frequent keys shrink before the shuffle")],
    "task": [
        _SPREAD,
        Change(
            "let Spark divide what is skewed", "spark.sql.adaptive.skewJoin.enabled", after="true"
        ),
    ],
}


def evidence(_: Workforce) -> ir.Table:
    rows = stragglers()
    return rows.filter((rows.role == "reduce") | rows.stage.notnull())


@rule(
    title="One reduce has most of the data (skew)",
    evidence=Query(evidence, Straggler),
    why="The job, or the stage of Spark, ends when its last task ends: those with little data wait "
    "for the one that has much.",
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
    kind = "task" if worst.stage else "reduce"
    kinds = f"tasks of {worst.stage}" if worst.stage else "reduces"
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"one of {worst.attempts} {kinds} fetched {size(worst.most_fetched)}, while the "
        f"median is {size(worst.median_fetched)}; the longest {kind} ran {seconds(cost)} longer "
        "than the median",
        evidence=[
            Evidence(f"most bytes that a {kind} fetched", worst.most_fetched, "bytes"),
            Evidence(f"median of the bytes that {kind}s fetched", worst.median_fetched, "bytes"),
            Evidence(f"time of the longest {kind}", worst.longest, "ns"),
            Evidence(f"median time of the {kind}s", worst.median, "ns"),
            Evidence(f"longest {kind}", worst.slowest, "text"),
        ],
        change=_CHANGES[kind],
        tries=() if worst.stage else (only_of([worst.job or ""], even_reduces()),),
    )
