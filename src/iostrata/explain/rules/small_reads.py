"""Reads of a few bytes, each of which costs a call, and from HDFS a request."""

from __future__ import annotations

from iostrata.explain.facts import Facts
from iostrata.explain.finding import Change, Judgement, Rule
from iostrata.explain.rules.parts import (
    BELOW_4_KIB,
    ONE_BYTE,
    SmallRequests,
    small_ones,
    small_requests,
)


def judge(rows: list[SmallRequests], facts: Facts) -> Judgement | None:
    change = [
        Change("read into a larger buffer", "io.file.buffer.size", "4096", "131072"),
        Change("put a BufferedInputStream around the stream, or read large parts and divide them"),
    ]
    return small_ones(rows, facts, "reads", change)


RULE = Rule(
    name="small-reads",
    title="Reads are small",
    row=SmallRequests,
    evidence=lambda scope: small_requests(scope, "read", ONE_BYTE + 1, BELOW_4_KIB),
    judge=judge,
    why="A call costs the same for 100 bytes as for 100 000 bytes. In HDFS, each positional read "
    "also asks a DataNode for a block again.",
    unless="the places are far apart (then see read-amplification), or the stream below has a "
    "buffer and the time is spent elsewhere.",
)
