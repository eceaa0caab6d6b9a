"""Stages of Spark of many short tasks, each of which takes some time whatever it has to do."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import count, plural, seconds

LEAST = 20  # tasks of a stage
SHORT = 1_000_000_000  # ns of a task, on average: Spark's own advice is a fifth of that at least
WAVES = 2  # tasks for each slot that are no fault


class StageTasks(Record, frozen=True):
    """The attempts of a stage: how many, how long all of them ran and the shortest one, and how
    long the stage lasted.
    """

    job: str | None
    stage: str
    tasks: Count
    time: Ns
    shortest: Ns
    wall: Ns

    @property
    def slots(self) -> int:
        """Tasks that ran at once, on average."""
        return max(1, round(self.time / self.wall)) if self.wall else 1

    @property
    def spare(self) -> int:
        """Tasks that need not be: more than some for each slot."""
        return max(0, self.tasks - WAVES * self.slots)


def evidence(_: Workforce) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.stage.notnull(), rows.dur.notnull())
    stages = rows.group_by("job", "stage").agg(
        tasks=rows.count(),
        time=rows.dur.sum().cast("int64"),
        shortest=rows.dur.min(),
        wall=(rows.end.max() - rows.start.min()).cast("int64"),
    )
    return stages.filter(stages.tasks >= LEAST).order_by("job", "stage")


@rule(
    title="Stages have many short tasks",
    evidence=Query(evidence, StageTasks),
    why="A task is sent to its executor, and its code and data are unpacked there, for Python in a "
    "process of its own, whatever it has to do: no task is shorter than that.",
    unless="the shortest task computes as long as the others, and repeats nothing.",
    most="warning",
)
def judge(rows: list[StageTasks], facts: RunFacts) -> Judgement | None:
    short = [row for row in rows if row.time < SHORT * row.tasks and row.spare]
    if not short:
        return None
    cost = sum(row.spare * row.shortest // row.slots for row in short)
    tasks = sum(row.tasks for row in short)
    each = sum(row.time for row in short) // tasks
    shortest = min(row.shortest for row in short)
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{count(tasks)} tasks of {plural(len(short), 'stage')} ran for {seconds(each)} each "
        f"on average, and none in less than {seconds(shortest)}, whatever it had to do",
        evidence=[
            Evidence("tasks of these stages", tasks, "count"),
            Evidence("average time of a task", each, "ns"),
            Evidence("time of the shortest task", shortest, "ns"),
            Evidence("time of the shortest tasks, of those that are spare", cost, "ns"),
        ],
        change=[
            Change("make fewer partitions: coalesce(), or the number given to parallelize()"),
            Change("read files in larger parts", "spark.sql.files.maxPartitionBytes", after="128m"),
            Change("shuffle into fewer parts", "spark.sql.shuffle.partitions"),
        ],
        gain=(0.2, 1.0),
        jobs=tuple(dict.fromkeys(row.job for row in short if row.job)),
    )
