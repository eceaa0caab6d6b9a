"""Short tasks that spend most of their time on creating file systems."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, Kind, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import plural, seconds

_FEWER_TASKS = Change("give each task more to do, so that fewer tasks are started")
_ONE_PROCESS = [Change("do more in one process, which creates its file systems once")]
FEWER: dict[Kind, list[Change]] = {
    "mapreduce": [
        _FEWER_TASKS,
        Change(
            "run small jobs inside the ApplicationMaster",
            "mapreduce.job.ubertask.enable",
            after="true",
        ),
    ],
    "spark": [_FEWER_TASKS],
    "hbase": _ONE_PROCESS,
    "program": _ONE_PROCESS,
}


@rule(
    title="Short tasks spend their time on creating file systems",
    evidence=work("fs.connect", "task.process", "task.run"),
    why="Each JVM creates its file systems anew: it loads classes, parses the configuration and "
    "opens connections. In a task of a few seconds this is a large part of the time.",
    unless="the job cannot have fewer tasks.",
    most="warning",
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    connect = one(rows, "fs.connect")
    if not connect.calls:
        return None
    return Judgement(
        share=facts.share(connect.time),
        text=f"{plural(len(facts.workers), 'process')} ran for {seconds(facts.worked)}, and "
        f"creating file systems took {seconds(connect.time)} of it",
        evidence=[
            Evidence("file systems that were created", connect.calls, "count"),
            Evidence("time that this took", connect.time, "ns"),
            Evidence("time of all processes", facts.worked, "ns"),
        ],
        change=FEWER[facts.kind],
        gain=(0.2, 0.6),
    )
