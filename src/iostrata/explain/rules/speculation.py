"""Attempts that ran beside another one of the same task: one of them did so in vain."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import tries
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds


class RacedTask(Record, frozen=True):
    """A task of which `races` attempts still ran when another one began: `beside` is how long two
    of them ran at once.
    """

    repeated: str
    races: Count
    beside: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = tries()
    end = rows.start + rows.dur
    both = ibis.least(end, rows.next_start + rows.next_dur) - rows.next_start
    raced = rows.mutate(both=both).filter(end > rows.next_start)
    tasks = raced.group_by("repeated").agg(
        races=raced.count(), beside=raced.both.sum().cast("int64")
    )
    return tasks.order_by("repeated")


@rule(
    title="Attempts of a task raced",
    evidence=Query(evidence, RacedTask),
    why="Speculation starts an attempt that is slow a second time, and throws away what the one "
    "does that ends last. While both ran, another task could not have the container.",
    unless="a node or a disk is slow, and the second attempt ended before the first would have.",
    explains=("fs-creation",),
)
def judge(rows: list[RacedTask], facts: RunFacts) -> Judgement | None:
    if not rows:
        return None
    races = sum(row.races for row in rows)
    beside = sum(row.beside for row in rows)
    return Judgement(
        share=facts.share(beside),
        text=f"{plural(len(rows), 'task')} ran in two attempts at once for {seconds(beside)}, one "
        "of them in vain",
        evidence=[
            Evidence("attempts that ran beside a later one", races, "count"),
            Evidence("time in which two ran at once", beside, "ns"),
            Evidence("one of these tasks", rows[0].repeated, "text"),
        ],
        change=[
            Change(
                "turn speculation off, or let it wait longer",
                "spark.speculation" if facts.kind == "spark" else "mapreduce.map.speculative",
                after="false",
            ),
        ],
    )
