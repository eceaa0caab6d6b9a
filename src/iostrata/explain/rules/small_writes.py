"""Writes of a few bytes that reach the operating system one by one."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Judgement, Rule
from iostrata.explain.rules.parts import (
    BELOW_4_KIB,
    ONE_BYTE,
    SmallRequests,
    small_ones,
    small_requests,
)


def evidence(scope: Scope) -> ir.Table:
    return small_requests(scope, "written", ONE_BYTE + 1, BELOW_4_KIB)


def judge(rows: list[SmallRequests], facts: Facts) -> Judgement | None:
    change = [
        Change("collect before writing: a BufferedOutputStream of 64 KiB around the stream"),
        Change("write into a larger buffer", "io.file.buffer.size", "4096", "131072"),
    ]
    return small_ones(rows, facts, "writes", change)


RULE = Rule(
    name="small-writes",
    title="Small writes",
    row=SmallRequests,
    evidence=evidence,
    judge=judge,
    why="An unbuffered write is a call of the operating system, whatever it moves.",
    unless="each write has to be on its way before the next (a log that others follow).",
)
