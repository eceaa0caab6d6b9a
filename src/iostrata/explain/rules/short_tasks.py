"""Tasks that take longer to start and end than to work."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import (
    OperationSum,
    account,
    is_distcp,
    made_by_submitters,
    named,
    opens,
)
from iostrata.records import Count
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import fewer_maps
from iostrata.text import count, seconds

_LARGER_SPLITS = Change(
    "make splits larger", "mapreduce.input.fileinputformat.split.minsize", after=str(256 << 20)
)
_FEWER_COPIES = Change("copy with fewer maps: distcp -m")
_FEWER_FILES = Change("ask the program for fewer tasks: it writes a file for each of them itself")


class JobRuns(OperationSum, frozen=True):
    """The work of all tasks of a job, and how many files it opened that its submitter `made`."""

    job: str
    made: Count


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(named("task.run"))
    rows = rows.mutate(job=rows.job.fill_null(""))
    runs, opened, files = (
        account(rows, "layer", "op", "job"),
        opens(workforce),
        made_by_submitters(),
    )
    opened = opened.semi_join(files, opened.target == files.made)
    made = opened.group_by(opener=opened.job.fill_null("")).agg(made=opened.target.nunique())
    runs = runs.left_join(made, runs.job == made.opener).drop("opener")
    return runs.mutate(made=runs.made.fill_null(0)).order_by("job")


@rule(
    title="Tasks are too short",
    evidence=Query(evidence, JobRuns),
    why="Each task starts a JVM of its own. That takes some seconds of one core, whatever the task "
    "has to do.",
    unless="all tasks can run at once, and the cluster has nothing else to do.",
    explains=("fs-creation", "localization"),
)
def judge(rows: list[JobRuns], facts: RunFacts) -> Judgement | None:
    tasks = runs = cost = ran = outside = made = 0
    jobs, tries = [], []
    for row in rows:
        of_job = facts.workers_of(row.job)
        if not row.calls or not of_job:
            continue
        start_up = max(0, sum(worker.dur for worker in of_job) - row.time) // len(of_job)
        if start_up <= row.time // row.calls:
            continue
        jobs.append(row.job)
        spare = max(0, len(of_job) - 2 * facts.at_once)
        maps = sum(worker.role == "map" for worker in of_job)
        if together := -(-maps // (2 * facts.at_once)):
            tries.append(only_of([row.job], fewer_maps(together)))
        tasks, runs, ran = tasks + len(of_job), runs + row.calls, ran + row.time
        made += row.made
        outside, cost = outside + start_up * len(of_job), cost + spare * start_up
    if not tasks:
        return None
    each, start_up = ran // runs, outside // tasks
    return Judgement(
        share=facts.share(cost),
        text=f"{count(tasks)} tasks worked for {seconds(each)} each on average, and took "
        f"{seconds(start_up)} each to start and end",
        evidence=[
            Evidence("tasks", tasks, "count"),
            Evidence("most tasks that ran at once", facts.at_once, "count"),
            Evidence("average time of a task at work", each, "ns"),
            Evidence("time to start and end a task", start_up, "ns"),
        ],
        change=[
            _fewer(facts, jobs, made * 2 > tasks),
            Change(
                "run small jobs inside the ApplicationMaster",
                "mapreduce.job.ubertask.enable",
                after="true",
            ),
        ],
        jobs=tuple(jobs),
        tries=tuple(tries),
    )


def _fewer(facts: RunFacts, jobs: list[str], are_made: bool) -> Change:
    """How there come to be fewer tasks; `are_made`: most have a file of the program for each."""
    if is_distcp(facts, *jobs):
        return _FEWER_COPIES
    return _FEWER_FILES if are_made else _LARGER_SPLITS
