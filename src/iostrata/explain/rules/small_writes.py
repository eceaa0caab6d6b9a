"""Writes of a few bytes, each of which is a call of the operating system."""

from __future__ import annotations

from iostrata.explain import Change, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import SmallRequests, below_4_kib, small_ones

OF_NATIVE = Change(
    "collect data before writing it (setvbuf() for streams); let ranks write together "
    "(collective I/O)"
)
# A server of HBase writes what it is sent, entry by entry, to its log.
OF_HBASE = [Change("write lists of rows: Table.put(List), or a BufferedMutator")]


@rule(
    title="Writes are small",
    evidence=below_4_kib("written"),
    why="Each unbuffered write is a system call, however few bytes it writes.",
    unless="each write has to be on its way before the next one (a log that others follow).",
    explains=("shared-file",),
    of_imports=True,
)
def judge(rows: list[SmallRequests], facts: RunFacts) -> Judgement | None:
    change = [
        Change("collect data before writing it, with a BufferedOutputStream of 64 KiB"),
        Change("write into a larger buffer", "io.file.buffer.size", after="131072"),
    ]
    return small_ones(rows, facts, "writes", change, OF_NATIVE, OF_HBASE)
