"""Writes of a few bytes, each of which is a call of the operating system."""

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
        Change("collect data before writing it, with a BufferedOutputStream of 64 KiB"),
        Change("write into a larger buffer", "io.file.buffer.size", "4096", "131072"),
    ]
    return small_ones(rows, facts, "writes", change)


RULE = Rule(
    name="small-writes",
    title="Writes are small",
    row=SmallRequests,
    evidence=lambda scope: small_requests(scope, "written", ONE_BYTE + 1, BELOW_4_KIB),
    judge=judge,
    why="Each unbuffered write is a system call, however few bytes it writes.",
    unless="each write has to be on its way before the next one (a log that others follow).",
)
