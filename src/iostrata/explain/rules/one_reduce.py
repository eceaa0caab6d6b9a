"""Few reduces do work that more of them could share."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.explain.rules.parts import by_job
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import REDUCES, setting
from iostrata.text import plural, seconds, size

LEAST = 16 << 20  # bytes fetched by a reduce


@dataclass(frozen=True)
class FewReduces:
    """The reduces of a job, which worked `alone` for so many ns after its last map: no task of
    another job used the rest of the cluster.
    """

    job: str
    reduces: int
    room: int
    alone: int
    fetched: int
    cost: float  # ns of the run


@rule(
    title="The job has too few reduces",
    evidence=Query(lambda _: attempts(), Attempt),
    why="After the last map only the reduces work, and the rest of the cluster is idle.",
    unless="the job needs one output file in one order; then use a TotalOrderPartitioner.",
    explains=("straggler", "merge-passes"),
)
def judge(rows: list[Attempt], facts: RunFacts) -> Judgement | None:
    jobs = (_few(name, job, facts) for name, job in by_job(rows).items())
    worst = max(filter(None, jobs), key=lambda few: few.cost, default=None)
    if worst is None:
        return None
    return Judgement(
        share=facts.share_of_wall(worst.cost),
        text=f"{plural(worst.reduces, 'reduce')} worked alone for {seconds(worst.alone)} on up to "
        f"{size(worst.fetched)}, while there was room for {worst.room} tasks",
        evidence=[
            Evidence("reduces", worst.reduces, "count"),
            Evidence("most tasks that ran at once", worst.room, "count"),
            Evidence("time after the last map", worst.alone, "ns"),
            Evidence("most bytes that a reduce fetched", worst.fetched, "bytes"),
        ],
        change=[
            Change(
                "use as many reduces as can run at once",
                REDUCES,
                after=str(worst.room),
            ),
        ],
        jobs=(worst.job,),
        tries=(only_of([worst.job], setting(f"{REDUCES}={worst.room}")),),
    )


def _few(name: str, job: list[Attempt], facts: RunFacts) -> FewReduces | None:
    """None: the job has enough of them, or nothing that they could share."""
    maps = [row for row in job if row.role == "map" and row.end]
    reduces = [row for row in job if row.role == "reduce" and row.end]
    room = max(facts.at_once, 2)
    if not maps or not reduces or len(reduces) * 2 > room:
        return None
    fetched = max(row.fetched for row in reduces)
    if fetched < LEAST:
        return None
    maps_end, end = (max(row.end or 0 for row in ended) for ended in (maps, reduces))
    begin = max(maps_end, min(row.start or facts.begin for row in reduces))
    alone = facts.without_others(name, begin, end)
    cost = max(0, alone - facts.start_up) * (1 - len(reduces) / room)
    return FewReduces(name, len(reduces), room, alone, fetched, cost)
