"""Reads and writes of a single byte, each of which costs a call."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import ONE_BYTE, SmallRequests, is_native, small_requests
from iostrata.text import count, seconds

LEAST = 10_000  # calls


class ByteRequests(SmallRequests, frozen=True):
    """Requests of a single byte, in one direction."""

    direction: str


def evidence(workforce: Workforce) -> ir.Table:
    of_both = [
        small_requests(workforce, name, ONE_BYTE, ONE_BYTE).mutate(direction=ibis.literal(name))
        for name in ("read", "written")
    ]
    return ibis.union(*of_both).order_by("layer", "direction")


@rule(
    title="Data is read or written byte by byte",
    evidence=Query(evidence, ByteRequests),
    why="Each read() and each write(int) of an unbuffered stream is a system call of its own.",
    unless="the stream below has a buffer, so that a call costs only some nanoseconds.",
    explains=("small-reads", "small-writes"),
    of_imports=True,
)
def judge(rows: list[ByteRequests], facts: RunFacts) -> Judgement | None:
    worst = max(rows, key=lambda row: row.time, default=None)
    if worst is None or worst.calls < LEAST:
        return None
    verb = "reads" if worst.direction == "read" else "writes"
    wrapper = "BufferedInputStream" if worst.direction == "read" else "BufferedOutputStream"
    return Judgement(
        share=facts.share(worst.time),
        text=f"{count(worst.calls)} {verb} of a single byte in layer {worst.layer} took "
        f"{seconds(worst.time)}",
        evidence=[
            Evidence(f"{verb} of one byte", worst.calls, "count"),
            Evidence(f"time of these {verb}, without waits", worst.time, "ns"),
            Evidence(f"{verb} of all sizes", worst.all_calls, "count"),
        ],
        change=[
            Change(f"{verb.removesuffix('s')} through a buffer")
            if is_native(worst.layer, facts)
            else Change(f"put a {wrapper} around the stream, or use the calls that take an array")
        ],
        gain=(0.8, 1.0),
    )
