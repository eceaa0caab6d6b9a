"""One reduce does what several could."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.records import Bytes, EpochNs, Ns, Record
from iostrata.text import plural, seconds, size

LEAST = 16 << 20  # bytes fetched by a reduce


class EndedAttempt(Record, frozen=True):
    """An attempt that has ended."""

    job: str | None
    role: str | None
    task: str
    start: EpochNs
    end: EpochNs
    dur: Ns
    fetched: Bytes


def evidence(scope: Scope) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.dur.notnull())
    return rows.select("job", "role", "task", "start", "end", "dur", "fetched")


def judge(rows: list[EndedAttempt], facts: Facts) -> Judgement | None:
    maps = [row for row in rows if row.role == "map"]
    reduces = [row for row in rows if row.role == "reduce"]
    room = max(facts.at_once, 2)
    if not maps or not reduces or len(reduces) * 2 > room:
        return None
    fetched = max(row.fetched for row in reduces)
    maps_end = max(row.end for row in maps)
    alone = max(row.end for row in reduces) - max(maps_end, min(r.start for r in reduces))
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
        gain=(0.5, 1.0),
    )


RULE = Rule(
    name="one-reduce",
    title="The job has too few reduces",
    row=EndedAttempt,
    evidence=evidence,
    judge=judge,
    why="After the last map only the reduces work, and the rest of the cluster is idle.",
    unless="the job needs one output file in one order; then use a TotalOrderPartitioner.",
    explains=("straggler", "merge-passes"),
)
