"""Attempts that ran in vain, because another attempt did their work after them."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import tries
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds


class RepeatedTask(Record, frozen=True):
    """A task with `failed` attempts, which had ended when the next one began; `again`: their time.

    One that another races with is none of these: it is slow, which `straggler` and `slow-node` say.
    """

    repeated: str
    failed: Count
    again: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = tries()
    rows = rows.filter(rows.start + rows.dur <= rows.next_start)
    tasks = rows.group_by("repeated").agg(failed=rows.count(), again=rows.dur.sum().cast("int64"))
    return tasks.order_by("repeated")


@rule(
    title="Work was repeated",
    evidence=Query(evidence, RepeatedTask),
    why="The work of an attempt that fails is thrown away. While it ran, other tasks could not "
    "have its container.",
    unless="a node was lost: then repeated attempts are the price of going on.",
    explains=("short-tasks", "fs-creation", "straggler"),
)
def judge(rows: list[RepeatedTask], facts: RunFacts) -> Judgement | None:
    if not rows:
        return None
    failed = sum(row.failed for row in rows)
    cost = sum(row.again for row in rows)
    return Judgement(
        share=facts.share(cost),
        text=f"{plural(failed, 'attempt')} of {plural(len(rows), 'task')} ran for {seconds(cost)} "
        "in vain, because another attempt did the same work",
        evidence=[
            Evidence("tasks that were tried again", len(rows), "count"),
            Evidence("attempts that ran in vain", failed, "count"),
            Evidence("time that they took", cost, "ns"),
            Evidence("one of these tasks", rows[0].repeated, "text"),
        ],
        change=[
            Change("read the log of a failed attempt with yarn logs -applicationId …"),
        ],
    )
