"""Reduces that hold containers which maps are waiting for."""

from __future__ import annotations

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.explain.rules.parts import by_job
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import SLOW_START, setting
from iostrata.text import plural, seconds

_LATE = "0.9"  # of the maps


@rule(
    title="Reduces wait and hold containers",
    evidence=Query(lambda _: attempts(), Attempt),
    why="A reduce cannot reduce before the last map has ended. Until then its container is not "
    "available to maps.",
    unless="the cluster has room for all maps and reduces at once.",
    explains=("straggler",),
)
def judge(rows: list[Attempt], facts: RunFacts) -> Judgement | None:
    times = {name: _held(job, facts) for name, job in by_job(rows).items()}
    early = [time for of_job in times.values() for time in of_job]
    if not early:
        return None
    held = sum(early)
    jobs = tuple(name for name, of_job in times.items() if of_job)
    cost = held / max(1, facts.at_once)
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{plural(len(early), 'reduce')} held containers for {seconds(held)} while maps still "
        "had to start",
        evidence=[
            Evidence("reduces that started before the last map of their job", len(early), "count"),
            Evidence("time that they held containers until then", held, "ns"),
            Evidence("most tasks that ran at once", facts.at_once, "count"),
        ],
        change=[
            Change(
                "start reduces when most maps have ended",
                SLOW_START,
                after=_LATE,
            ),
        ],
        jobs=jobs,
        tries=(only_of(jobs, setting(f"{SLOW_START}={_LATE}")),),
    )


def _held(job: list[Attempt], facts: RunFacts) -> list[int]:
    """For how long each reduce of a job held its container while maps were still to be started."""
    last = max((row.start or facts.begin for row in job if row.role == "map"), default=0)
    reduces = [row for row in job if row.role == "reduce"]
    held = (min(last, row.end or last) - (row.start or facts.begin) for row in reduces)
    return [time for time in held if time > 0]
