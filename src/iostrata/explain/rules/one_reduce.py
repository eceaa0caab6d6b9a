"""Few reduces do work that more of them could share."""

from __future__ import annotations

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.text import plural, seconds, size

LEAST = 16 << 20  # bytes fetched by a reduce


@rule(
    title="The job has too few reduces",
    evidence=Query(lambda _: attempts(), Attempt),
    why="After the last map only the reduces work, and the rest of the cluster is idle.",
    unless="the job needs one output file in one order; then use a TotalOrderPartitioner.",
    explains=("straggler", "merge-passes"),
)
def judge(rows: list[Attempt], facts: RunFacts) -> Judgement | None:
    maps = [row for row in rows if row.role == "map" and row.end]
    reduces = [row for row in rows if row.role == "reduce" and row.end]
    room = max(facts.at_once, 2)
    if not maps or not reduces or len(reduces) * 2 > room:
        return None
    fetched = max(row.fetched for row in reduces)
    maps_end, end = (max(row.end or 0 for row in ended) for ended in (maps, reduces))
    alone = end - max(maps_end, min(row.start or facts.begin for row in reduces))
    if fetched < LEAST:
        return None
    cost = max(0, alone - facts.start_up) * (1 - len(reduces) / room)
    return Judgement(
        share=facts.share_of_wall(cost),
        text=f"{plural(len(reduces), 'reduce')} worked alone for {seconds(alone)} on up to "
        f"{size(fetched)}, while there was room for {room} tasks",
        evidence=[
            Evidence("reduces", len(reduces), "count"),
            Evidence("most tasks that ran at once", room, "count"),
            Evidence("time after the last map", alone, "ns"),
            Evidence("most bytes that a reduce fetched", fetched, "bytes"),
        ],
        change=[
            Change(
                "use as many reduces as can run at once", "mapreduce.job.reduces", "1", str(room)
            ),
        ],
    )
