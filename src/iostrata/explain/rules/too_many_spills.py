"""Maps that spill several times: their output is written, read and written again."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import one, work
from iostrata.text import count, seconds


def evidence(scope: Scope) -> ir.Table:
    maps = Scope(tuple(role for role in scope.roles if role == "map"))
    return work(maps, "task.spill", "task.merge", "task.flush")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    maps = sum(worker.role == "map" for worker in facts.workers)
    spills, merge = one(rows, "task.spill"), one(rows, "task.merge")
    if not maps or spills["calls"] < 2 * maps:
        return None
    each = spills["calls"] / maps
    return Seen(
        share=facts.share(merge["time"]),
        text=f"maps spilled {each:.1f} times on average; to merge what they had spilled took "
        f"{seconds(merge['time'])}",
        evidence=[
            Evidence("maps", maps, "count"),
            Evidence("spills", spills["calls"], "count"),
            Evidence("time to spill", spills["time"], "ns"),
            Evidence("time to merge", merge["time"], "ns"),
        ],
        change=[
            Change(
                "a sort buffer that holds a map's output",
                "mapreduce.task.io.sort.mb",
                "",
                f"{count(round(each + 1))} times as many MB",
            ),
            Change("let the JVM hold it", "mapreduce.map.memory.mb"),
        ],
        gain=(0.6, 1.0),
    )


RULE = Rule(
    name="too-many-spills",
    title="Maps spill too often",
    evidence=evidence,
    judge=judge,
    why="With one spill a map's output is written once. With more, all of it is read back, merged "
    "and written again.",
    unless="the output of a map is larger than a JVM can hold: then make splits smaller.",
)
