"""One attempt that runs much longer than those beside it."""

from __future__ import annotations

from iostrata.analyse.attempts import Straggler, stragglers
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.text import seconds

TIMES = 2.0
_RACE = {
    role: (Change("let a second attempt race against it", setting, after="true"),)
    for role, setting in {
        "map": "mapreduce.map.speculative",
        "reduce": "mapreduce.reduce.speculative",
        "executor": "spark.speculation",
    }.items()
}


@rule(
    title="One attempt runs much longer than the others",
    evidence=Query(lambda workforce: workforce.rows(stragglers()), Straggler),
    why="The other attempts have ended and wait for this one. The job ends when it ends.",
    unless="its work is larger and cannot be divided.",
    explains=("speculation",),
    of_imports=True,
)
def judge(rows: list[Straggler], facts: RunFacts) -> Judgement | None:
    late = [row for row in rows if row.attempts > 2 and row.longest > TIMES * row.median]
    worst = max(late, key=lambda row: row.longest - row.median, default=None)
    if worst is None:
        return None
    cost = worst.longest - worst.median
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{worst.slowest} worked for {seconds(worst.longest)}, while the median of "
        f"{worst.attempts} {worst.role} attempts is {seconds(worst.median)}",
        evidence=[
            Evidence("time of the longest attempt", worst.longest, "ns"),
            Evidence("median time of the attempts", worst.median, "ns"),
            Evidence("longest attempt", worst.slowest, "text"),
        ],
        change=[
            Change("find out what is special about this attempt: its split, its keys, its host"),
            *_RACE.get(worst.role or "", ()),
        ],
        gain=(0.3, 1.0),
        jobs=(worst.job or "",),
    )
