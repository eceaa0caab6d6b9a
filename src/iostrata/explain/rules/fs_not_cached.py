"""File systems created again and again within one process."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
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


def evidence(workforce: Workforce) -> ir.Table:
    made = workforce.rows(named("fs.connect"))
    rows = account(made, "proc", "category")
    longest = made.group_by("proc", "category").agg(longest=made["max"].max().fill_null(0))
    rows = rows.join(longest, ["proc", "category"])
    return rows.select("proc", "category", "calls", "time", "longest").order_by("proc", "category")


@rule(
    title="The same file systems are created again and again",
    evidence=Query(evidence, Creations),
    why="A new FileSystem loads its configuration, resolves names and opens connections. Unless "
    "it is configured otherwise, Hadoop keeps one instance for each process, user and scheme.",
    unless="each instance serves another user and is closed after its request.",
    explains=("fs-creation", "metadata-storm"),
)
def judge(rows: list[Creations], facts: RunFacts) -> Judgement | None:
    often = [row for row in rows if row.calls > USUAL]
    if not often:
        return None
    again = sum(row.calls - 1 for row in often)
    # the first loads classes and configuration, and is needed
    cost = sum(max(0, row.time - row.longest) for row in often)
    return Judgement(
        share=facts.share(cost),
        text=f"processes created {count(again)} more file systems than they needed, which took "
        f"{seconds(cost)}",
        evidence=[
            Evidence("creations after the first one of a process", again, "count"),
            Evidence("time that they took", cost, "ns"),
        ],
        change=[
            Change(
                "let FileSystem.get() share instances",
                "fs.hdfs.impl.disable.cache",
                after="false",
            ),
            Change(
                "keep one FileSystem for the whole process, and do not call "
                "FileSystem.newInstance() for each request"
            ),
        ],
        gain=(0.8, 1.0),
    )
