"""A rank of a parallel program that waits for its files much longer than the others."""

from __future__ import annotations

from statistics import median_low

from ibis.expr import types as ir

from iostrata.analyse.ranks import NO_FILES
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import account
from iostrata.records import Bytes, Ns, Record
from iostrata.text import count, seconds, size

TIMES = 2.0
LEAST = 4  # ranks
ALIKE = 1.3  # times the bytes of the median

_SLOW_STORAGE = [
    Change(
        "find out which storage target has the files of this rank (lfs getstripe), and check it"
    ),
    Change("stripe files over several targets, so that none of them serves one rank alone"),
]
_MORE_TO_DO = [Change("give all ranks parts of the same size, or use collective I/O")]


class RankTime(Record, frozen=True):
    """What a rank did with files: its time in calls, and the bytes that they moved."""

    task: str
    time: Ns
    bytes: Bytes


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows()
    is_of_file = rows.category.fill_null("").notin(NO_FILES)
    rows = rows.filter(rows.layer == "posix", rows.task.notnull(), is_of_file)
    return account(rows, "task").select("task", "time", "bytes").order_by("task")


@rule(
    title="One rank waits for files much longer than the others",
    evidence=Query(evidence, RankTime),
    why="Ranks wait for each other at the next barrier, so that all go at the pace of the slowest.",
    unless="the other ranks compute meanwhile, and nothing waits for this one.",
    explains=("straggler",),
    of_imports=True,
)
def judge(rows: list[RankTime], facts: RunFacts) -> Judgement | None:
    if len(rows) < LEAST:
        return None
    worst = max(rows, key=lambda row: row.time)
    usual, moved = median_low(row.time for row in rows), median_low(row.bytes for row in rows)
    if worst.time <= TIMES * usual:
        return None
    is_alike = worst.bytes <= ALIKE * moved
    cost = worst.time - usual
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{worst.task} spent {seconds(worst.time)} in calls on files and moved "
        f"{size(worst.bytes)}, while the median of {count(len(rows))} ranks is {seconds(usual)} "
        f"and {size(moved)}",
        evidence=[
            Evidence("ranks that used files", len(rows), "count"),
            Evidence("time of the slowest rank in calls on files", worst.time, "ns"),
            Evidence("median time of the ranks", usual, "ns"),
            Evidence("bytes of the slowest rank", worst.bytes, "bytes"),
            Evidence("median bytes of the ranks", moved, "bytes"),
        ],
        change=_SLOW_STORAGE if is_alike else _MORE_TO_DO,
        gain=(0.3, 1.0),
    )
