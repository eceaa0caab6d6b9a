"""Merges in several passes: spilled data is rewritten more than once."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import SPILLS_OF_MAPS, MapSpills
from iostrata.text import seconds

USUAL = 2.6  # times that a byte of output is written by a map: spilled, and merged once


@rule(
    title="Spills are merged in several passes",
    evidence=SPILLS_OF_MAPS,
    why="When there are more spills than io.sort.factor, they are first merged into larger ones, "
    "which are then read and written once more.",
    unless="a larger factor would need too much memory, or too many open files.",
    explains=("disk-bound", "too-many-spills"),
)
def judge(rows: list[MapSpills], facts: RunFacts) -> Judgement | None:
    often = [row for row in rows if row.spilled and row.merged >= (USUAL - 1) * row.spilled]
    if not often:
        return None
    spilled, merged = sum(row.spilled for row in often), sum(row.merged for row in often)
    passes = (spilled + merged) / spilled
    merge = sum(row.merge_time for row in often)
    cost = int(merge * (1 - 1 / (passes - 1)))
    return Judgement(
        share=facts.share(cost),
        text=f"maps wrote each byte of their output {passes:.1f} times; merging took "
        f"{seconds(merge)}, of which further passes took {seconds(cost)}",
        evidence=[
            Evidence("bytes that were spilled", spilled, "bytes"),
            Evidence("bytes that were merged", merged, "bytes"),
            Evidence("time to merge", merge, "ns"),
        ],
        change=[
            Change("merge more spills at once", "mapreduce.task.io.sort.factor", after="100"),
            Change("spill less often", "mapreduce.task.io.sort.mb"),
        ],
        gain=(0.6, 1.0),
        jobs=tuple(row.job for row in often),
    )
