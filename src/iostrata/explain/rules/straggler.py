"""One attempt that runs much longer than those beside it."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import Straggler, stragglers
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.text import seconds

TIMES = 2.0


def evidence(scope: Scope) -> ir.Table:
    rows = stragglers()
    return rows.filter(rows.role.isin(scope.roles))


def judge(rows: list[Straggler], facts: Facts) -> Judgement | None:
    late = [row for row in rows if row.attempts > 2 and row.longest > TIMES * row.median]
    worst = max(late, key=lambda row: row.longest - row.median, default=None)
    if worst is None:
        return None
    cost = worst.longest - worst.median
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{worst.slowest} worked {seconds(worst.longest)}, the middle one of "
        f"{worst.attempts} {worst.role} attempts {seconds(worst.median)}",
        evidence=[
            Evidence("longest attempt", worst.longest, "ns"),
            Evidence("the middle one", worst.median, "ns"),
            Evidence("which", worst.slowest, "text"),
        ],
        change=[
            Change("look at what this attempt alone does: its split, its keys, its host"),
            Change("let a second attempt race it", "mapreduce.map.speculative", "false", "true"),
        ],
        gain=(0.3, 1.0),
    )


RULE = Rule(
    name="straggler",
    title="A straggler",
    row=Straggler,
    evidence=evidence,
    judge=judge,
    why="The others are done and wait for it; the job ends when it does.",
    unless="its work is larger and cannot be divided.",
)
