"""Maps that spill several times: their output is written, read and written again."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import SPILLS_OF_MAPS, MapSpills
from iostrata.replay.alternative import only_of
from iostrata.replay.settings import SORT_BUFFER as BUFFER
from iostrata.replay.settings import setting
from iostrata.text import count, seconds

LARGEST = 2047  # MB; Hadoop takes no more


@rule(
    title="Maps spill too often",
    evidence=SPILLS_OF_MAPS,
    why="With one spill, the output of a map is written once. With more spills, all of it is read "
    "back, merged and written again.",
    unless="the output of a map is larger than a JVM can hold: then make splits smaller.",
)
def judge(rows: list[MapSpills], facts: RunFacts) -> Judgement | None:
    of_jobs = ((row, _maps(row.job, facts)) for row in rows)
    often = [(row, maps) for row, maps in of_jobs if maps and row.spills >= 2 * maps]
    if not often:
        return None
    maps, spills = sum(maps for _, maps in often), sum(row.spills for row, _ in often)
    merge_time = sum(row.merge_time for row, _ in often)
    spill_time = sum(row.spill_time for row, _ in often)
    each = spills / maps
    jobs = tuple(row.job for row, _ in often)
    enough = _enough(facts.configuration(BUFFER, *jobs), round(each + 1))
    return Judgement(
        share=facts.share(merge_time),
        text=f"maps spilled {each:.1f} times on average; merging these spills took "
        f"{seconds(merge_time)}",
        evidence=[
            Evidence("maps", maps, "count"),
            Evidence("spills", spills, "count"),
            Evidence("time to spill", spill_time, "ns"),
            Evidence("time to merge", merge_time, "ns"),
        ],
        change=[
            Change(
                "use a sort buffer that holds the output of a map",
                BUFFER,
                after=enough,
            ),
            Change("give the JVM room for this buffer", "mapreduce.map.memory.mb"),
        ],
        gain=(0.6, 1.0),
        jobs=jobs,
        tries=(only_of(jobs, setting(f"{BUFFER}={enough}")),) if enough.isdecimal() else (),
    )


def _enough(had: str | None, times: int) -> str:
    """MB of a buffer that is so many times as large, as far as there are buffers of that size."""
    if had is None or not had.isdecimal():
        return f"{count(times)} times as many MB"
    return str(min(LARGEST, int(had) * times))


def _maps(job: str, facts: RunFacts) -> int:
    return sum(worker.role == "map" for worker in facts.workers_of(job))
