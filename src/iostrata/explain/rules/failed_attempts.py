"""Attempts that ran in vain, because another attempt did their work."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds


class RepeatedTask(Record, frozen=True):
    """A task with several attempts; `again`: the time of all but the last one."""

    repeated: str
    attempts: Count
    again: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = attempts()
    # attempt_<cluster>_<job>_<type>_<task>_<number>, and of Spark <stage>_task_<task>.<number>:
    # without the number, the task
    task = rows.task.re_replace("[_.][0-9]+$", "")
    rows = rows.mutate(repeated=task, dur=rows.dur.fill_null(0))
    last = rows.group_by("repeated").agg(
        attempts=rows.count(), time=rows.dur.sum().cast("int64"), last=rows.start.max()
    )
    again = last.filter(last.attempts > 1)
    kept = again.join(rows, "repeated").filter(lambda t: t.start == t.last)
    return kept.select("repeated", "attempts", again=kept.time - kept.dur).order_by("repeated")


@rule(
    title="Work was repeated",
    evidence=Query(evidence, RepeatedTask),
    why="The work of an attempt that fails, or that is overtaken, is thrown away. While it ran, "
    "other tasks could not have its container.",
    unless="a node was lost: then repeated attempts are the price of going on.",
    explains=("short-tasks", "fs-creation", "straggler"),
)
def judge(rows: list[RepeatedTask], facts: RunFacts) -> Judgement | None:
    if not rows:
        return None
    tried = sum(row.attempts - 1 for row in rows)
    cost = sum(row.again for row in rows)
    return Judgement(
        share=facts.share(cost),
        text=f"{plural(tried, 'attempt')} of {plural(len(rows), 'task')} ran for {seconds(cost)} "
        "in vain, because another attempt did the same work",
        evidence=[
            Evidence("tasks with several attempts", len(rows), "count"),
            Evidence("attempts that ran in vain", tried, "count"),
            Evidence("time that they took", cost, "ns"),
            Evidence("one of these tasks", rows[0].repeated, "text"),
        ],
        change=[
            Change("read the log of a failed attempt with yarn logs -applicationId …"),
            Change(
                "turn speculation off if these attempts lost a race",
                "spark.speculation" if facts.kind == "spark" else "mapreduce.map.speculative",
                after="false",
            ),
        ],
    )
