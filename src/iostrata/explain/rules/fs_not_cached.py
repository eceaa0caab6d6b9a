"""File systems created again and again within one process."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import account, named
from iostrata.records import Count, Ns, Record
from iostrata.text import count, seconds

USUAL = 4  # a process: its own, another user's, the local one, a view of it


class Creations(Record, frozen=True):
    """File systems that a process created."""

    proc: int | None
    category: str | None
    calls: Count
    time: Ns
    longest: Ns


def evidence(scope: Scope) -> ir.Table:
    made = scope.workers(named("fs.connect"))
    rows = account(made, "proc", "category")
    longest = made.group_by("proc", "category").agg(longest=made["max"].max().fill_null(0))
    rows = rows.join(longest, ["proc", "category"])
    return rows.select("proc", "category", "calls", "time", "longest").order_by("proc", "category")


def judge(rows: list[Creations], facts: Facts) -> Judgement | None:
    often = [row for row in rows if row.calls > USUAL]
    if not often:
        return None
    again = sum(row.calls - 1 for row in often)
    # the first loads classes and configuration, and is needed
    cost = sum(max(0, row.time - row.longest) for row in often)
    return Judgement(
        share=facts.share(cost),
        text=f"file systems were created {count(again)} times more than needed, which took "
        f"{seconds(cost)}",
        evidence=[
            Evidence("creations beyond the first of a process", again, "count"),
            Evidence("time they took", cost, "ns"),
        ],
        change=[
            Change(
                "let FileSystem.get share instances", "fs.hdfs.impl.disable.cache", "true", "false"
            ),
            Change("keep one FileSystem a process instead of FileSystem.newInstance a request"),
        ],
        gain=(0.8, 1.0),
    )


RULE = Rule(
    name="fs-not-cached",
    title="File systems created anew",
    row=Creations,
    evidence=evidence,
    judge=judge,
    why="Creating a FileSystem loads its configuration, resolves names and opens connections; "
    "Hadoop keeps one per process, user and scheme unless told otherwise.",
    unless="each instance serves another user and is closed with its request.",
    explains=("fs-creation", "metadata-storm"),
)
