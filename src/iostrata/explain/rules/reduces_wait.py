"""Reduces that hold containers which maps are waiting for."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.records import EpochNs, Record
from iostrata.text import plural, seconds


class StartedAttempt(Record, frozen=True):
    """An attempt, which may still run."""

    job: str | None
    role: str | None
    task: str
    start: EpochNs
    end: EpochNs | None


def evidence(scope: Scope) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.start.notnull())
    return rows.select("job", "role", "task", "start", "end")


def judge(rows: list[StartedAttempt], facts: Facts) -> Judgement | None:
    maps = [row for row in rows if row.role == "map"]
    reduces = [row for row in rows if row.role == "reduce"]
    if not maps or not reduces:
        return None
    last = max(row.start for row in maps)
    early = [row for row in reduces if row.start < last]
    # while they sat there, maps were still to be started
    held = sum(last - row.start for row in early)
    if not early:
        return None
    cost = held / max(1, facts.at_once)
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{plural(len(early), 'reduce')} held containers for {seconds(held)} while maps still "
        "had to start",
        evidence=[
            Evidence("reduces that started before the last map", len(early), "count"),
            Evidence("time that they held containers until then", held, "ns"),
            Evidence("most tasks that ran at once", facts.at_once, "count"),
        ],
        change=[
            Change(
                "start reduces when most maps have ended",
                "mapreduce.job.reduce.slowstart.completedmaps",
                "0.05",
                "0.9",
            ),
        ],
        gain=(0.5, 1.0),
    )


RULE = Rule(
    name="reduces-wait",
    title="Reduces wait and hold containers",
    row=StartedAttempt,
    evidence=evidence,
    judge=judge,
    why="A reduce cannot reduce before the last map has ended. Until then its container is not "
    "available to maps.",
    unless="the cluster has room for all maps and reduces at once.",
    explains=("straggler",),
)
