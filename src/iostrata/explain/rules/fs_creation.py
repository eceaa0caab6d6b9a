"""Short tasks that mostly create their file system: the finding of S2 on short jobs."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import seconds


def evidence(scope: Scope) -> ir.Table:
    return work(scope, "fs.connect", "task.process", "task.run")


def judge(rows: list[OperationSum], facts: Facts) -> Judgement | None:
    connect = one(rows, "fs.connect")
    workers = len(facts.workers)
    if not connect.calls:
        return None
    return Judgement(
        share=facts.share(connect.time),
        text=f"creating file systems took {seconds(connect.time)} of the "
        f"{seconds(facts.worked)} that {workers} processes ran",
        evidence=[
            Evidence("file systems created", connect.calls, "count"),
            Evidence("time they took", connect.time, "ns"),
            Evidence("time of all processes", facts.worked, "ns"),
        ],
        change=[
            Change("give each task more to do, so that fewer are started"),
            Change(
                "run small jobs within the ApplicationMaster",
                "mapreduce.job.ubertask.enable",
                "false",
                "true",
            ),
        ],
        gain=(0.2, 0.6),
    )


RULE = Rule(
    name="fs-creation",
    title="Creating file systems takes the time of short tasks",
    row=OperationSum,
    evidence=evidence,
    judge=judge,
    why="Each JVM creates its file systems anew: classes are loaded, configuration is parsed, "
    "connections are opened. Of a task of seconds that is a large part.",
    unless="the job has as few tasks as it can.",
    most="warning",
)
