"""Tasks that take longer to start and end than to work."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds


@rule(
    title="Tasks are too short",
    evidence=work("task.process", "task.run"),
    why="Each task starts a JVM of its own. That takes some seconds of one core, whatever the task "
    "has to do.",
    unless="all tasks can run at once, and the cluster has nothing else to do.",
    explains=("fs-creation", "localization"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    ran = one(rows, "task.run")
    tasks = len(facts.workers)
    if not ran.calls or facts.start_up <= ran.time // ran.calls:
        return None
    spare = max(0, tasks - 2 * facts.at_once)
    cost = spare * facts.start_up
    each = ran.time // ran.calls
    return Judgement(
        share=facts.share(cost),
        text=f"{count(tasks)} tasks worked for {seconds(each)} each on average, and took "
        f"{seconds(facts.start_up)} each to start and end",
        evidence=[
            Evidence("tasks", tasks, "count"),
            Evidence("most tasks that ran at once", facts.at_once, "count"),
            Evidence("average time of a task at work", each, "ns"),
            Evidence("time to start and end a task", facts.start_up, "ns"),
        ],
        change=[
            Change(
                "make splits larger",
                "mapreduce.input.fileinputformat.split.minsize",
                "1",
                str(256 << 20),
            ),
            Change(
                "run small jobs inside the ApplicationMaster",
                "mapreduce.job.ubertask.enable",
                "false",
                "true",
            ),
        ],
    )
