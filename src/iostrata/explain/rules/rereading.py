"""The same blocks are read several times in one run."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.rereading import rereading
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import BLOCK_CACHE, READS, one, totals
from iostrata.records import Bytes, Count, Record
from iostrata.text import plural, seconds, size

LEAST = 16 << 20  # bytes read again


class BlocksRead(Record, frozen=True):
    """Blocks that DataNodes read; `again`: bytes that had been read before."""

    blocks: Count
    reads: Count
    bytes: Bytes
    again: Bytes


def evidence(workforce: Workforce) -> ir.Table:
    rows = rereading()
    rows = rows.filter(rows.layer == "datanode")
    return rows.agg(blocks=rows.block.nunique(), **totals(rows, "reads", "bytes", "again"))


@rule(
    title="The same input is read several times",
    evidence=Query(evidence, BlocksRead),
    why="Each pass pays again for disks, network and decoding.",
    unless="the data does not fit into memory, and each pass needs all of it.",
)
def judge(rows: list[BlocksRead], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.again < LEAST or row.again * 3 < row.bytes:
        return None
    time = one(facts.answer(READS), "hdfs.read").time
    cost = time * row.again // row.bytes
    return Judgement(
        share=facts.share(cost),
        text=f"DataNodes read {size(row.bytes)} from {plural(row.blocks, 'block')}, of which "
        f"{size(row.again)} had been read before; reading these again took {seconds(cost)}",
        evidence=[
            Evidence("bytes that were read", row.bytes, "bytes"),
            Evidence("bytes that had been read before in this run", row.again, "bytes"),
            Evidence("blocks", row.blocks, "count"),
            Evidence("time of all reads", time, "ns"),
        ],
        change=[
            *([BLOCK_CACHE] if facts.kind == "hbase" else []),
            Change(
                "keep data that is read again, by cache(), a broadcast or the distributed cache"
            ),
            Change("read the data once for everything that is computed from it"),
            Change("pin the data in memory of DataNodes, with hdfs cacheadmin -addDirective"),
        ],
        gain=(0.6, 1.0),
    )
