"""Blocks so small that their pipelines cost more than their bytes."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds, size

SMALL = 16 << 20  # bytes
LEAST = 20  # blocks
PER_FILE = 4  # fewer are small files, not small blocks
OF_HBASE = [Change("flush larger memstores", "hbase.hregion.memstore.flush.size")]


@rule(
    title="Blocks are small",
    evidence=work("hdfs.connect", "hdfs.close", "hdfs.send_packet", "hdfs.wait_acks"),
    why="For each block a writer asks the NameNode, connects a pipeline and waits for all "
    "acknowledgements. When the file is read, each block becomes a split with its own task.",
    unless="the small blocks are meant to spread a small file over many tasks.",
    explains=("metadata-storm",),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    blocks, files = one(rows, "hdfs.connect"), one(rows, "hdfs.close").calls
    if blocks.calls < max(LEAST, PER_FILE * files):
        return None
    mean = one(rows, "hdfs.send_packet").sent // blocks.calls
    if mean >= SMALL:
        return None
    waits = one(rows, "hdfs.wait_acks").time
    cost = blocks.time + waits
    return Judgement(
        share=facts.share(cost),
        text=f"{count(blocks.calls)} blocks of {size(mean)} on average were written; setting up "
        f"and ending their pipelines took {seconds(cost)}",
        evidence=[
            Evidence("blocks that were written", blocks.calls, "count"),
            Evidence("average bytes of a block", mean, "bytes"),
            Evidence("time to set up pipelines", blocks.time, "ns"),
            Evidence("time to wait for the last acknowledgements", waits, "ns"),
        ],
        change=[
            Change("write larger blocks", "dfs.blocksize", after=str(128 << 20)),
            *(OF_HBASE if facts.kind == "hbase" else []),
            Change("let programs create files without a block size of their own"),
        ],
        # what is on its way when a block ends has to be written with any block size
        gain=(0.3, 1.0),
    )
