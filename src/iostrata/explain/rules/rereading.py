"""The same blocks are read several times in one run."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.rereading import rereading
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.records import Bytes, Count, Record
from iostrata.text import count, seconds, size

LEAST = 16 << 20  # bytes read again


class BlocksRead(Record, frozen=True):
    """Blocks that DataNodes read; `again`: bytes that had been read before."""

    blocks: Count
    reads: Count
    bytes: Bytes
    again: Bytes


def evidence(scope: Scope) -> ir.Table:
    rows = rereading()
    rows = rows.filter(rows.layer == "datanode")
    sums = {n: rows[n].sum().fill_null(0).cast("int64") for n in ("reads", "bytes", "again")}
    return rows.agg(blocks=rows.block.nunique(), **sums)


def judge(rows: list[BlocksRead], facts: Facts) -> Judgement | None:
    row = rows[0]
    if row.again < LEAST or row.again * 3 < row.bytes:
        return None
    time = one(facts.records(work(facts.scope, "hdfs.read"), OperationSum), "hdfs.read").time
    cost = time * row.again // row.bytes
    return Judgement(
        share=facts.share(cost),
        text=f"of {size(row.bytes)} read from {count(row.blocks)} blocks, "
        f"{size(row.again)} had been read before; that took {seconds(cost)}",
        evidence=[
            Evidence("bytes read", row.bytes, "bytes"),
            Evidence("read before, in this run", row.again, "bytes"),
            Evidence("blocks", row.blocks, "count"),
            Evidence("time of all reads", time, "ns"),
        ],
        change=[
            Change("keep what is read again: cache() it, a broadcast or the distributed cache"),
            Change("read once for all that is computed from it"),
            Change("pin it in the memory of DataNodes: hdfs cacheadmin -addDirective"),
        ],
        gain=(0.6, 1.0),
    )


RULE = Rule(
    name="rereading",
    title="The same input is read several times",
    row=BlocksRead,
    evidence=evidence,
    judge=judge,
    why="Each pass pays for disks, network and decoding again.",
    unless="it does not fit into memory and each pass needs all of it.",
)
