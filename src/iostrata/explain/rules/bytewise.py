"""Reads and writes of one byte: the most calls that bytes can cost."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import ONE_BYTE, small_requests
from iostrata.text import count, seconds

LEAST = 10_000  # calls


def evidence(scope: Scope) -> ir.Table:
    reads = small_requests(scope, "read", ONE_BYTE, ONE_BYTE).mutate(way=ibis.literal("read"))
    writes = small_requests(scope, "written", ONE_BYTE, ONE_BYTE).mutate(
        way=ibis.literal("written")
    )
    return reads.union(writes).order_by("layer", "way")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    worst = max(rows, key=lambda row: row["time"], default=None)
    if worst is None or worst["calls"] < LEAST:
        return None
    verb = "reads" if worst["way"] == "read" else "writes"
    wrapper = "BufferedInputStream" if worst["way"] == "read" else "BufferedOutputStream"
    return Seen(
        share=facts.share(worst["time"]),
        text=f"{count(worst['calls'])} {verb} of a single byte in layer {worst['layer']} took "
        f"{seconds(worst['time'])}",
        evidence=[
            Evidence(f"{verb} of one byte", worst["calls"], "count"),
            Evidence("their time, without waits", worst["time"], "ns"),
            Evidence(f"{verb} of all sizes", worst["all_calls"], "count"),
        ],
        change=[Change(f"put a {wrapper} around the stream, or use the calls that take an array")],
        gain=(0.8, 1.0),
    )


RULE = Rule(
    name="bytewise",
    title="One byte at a time",
    evidence=evidence,
    judge=judge,
    why="read() and write(int) of an unbuffered stream are a call of the operating system each.",
    unless="the stream is buffered below, so that a call costs some nanoseconds only.",
    explains=("small-reads", "small-writes"),
)
