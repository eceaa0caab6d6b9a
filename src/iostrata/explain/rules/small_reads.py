"""Reads of a few bytes, each of which costs a call, and from HDFS a request."""

from __future__ import annotations

from iostrata.explain import Change, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import BLOCK_CACHE, SmallRequests, below_4_kib, small_ones

OF_NATIVE = Change(
    "read larger parts, and divide them in memory (setvbuf() for streams); let ranks read together"
)
# A server of HBase reads blocks of its files.
OF_HBASE = [
    BLOCK_CACHE,
    Change("let a block hold more rows: a larger BLOCKSIZE of the column family"),
]


@rule(
    title="Reads are small",
    evidence=below_4_kib("read"),
    why="A call costs the same for 100 bytes as for 100 000 bytes. In HDFS, each positional read "
    "also asks a DataNode for a block again.",
    unless="the places are far apart (then see random-reads), or the stream below has a "
    "buffer and the time is spent elsewhere.",
    of_imports=True,
)
def judge(rows: list[SmallRequests], facts: RunFacts) -> Judgement | None:
    change = [
        Change("read into a larger buffer", "io.file.buffer.size", after="131072"),
        Change("put a BufferedInputStream around the stream, or read large parts and divide them"),
    ]
    return small_ones(rows, facts, "reads", change, OF_NATIVE, OF_HBASE)
