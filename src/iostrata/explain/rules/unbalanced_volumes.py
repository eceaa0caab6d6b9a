"""A DataNode that uses one of its volumes more than the others."""

from __future__ import annotations

from operator import itemgetter

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import count

TIMES = 3
LEAST = 8  # blocks on one DataNode


class Volume(Record, frozen=True):
    """Blocks that a DataNode read or wrote on one of its volumes."""

    host: str | None
    proc: int | None
    volume: str
    blocks: Count
    time: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = CALLS.filter(
        CALLS.layer == "java", CALLS.category == "blk", CALLS.target.contains("/current/BP-")
    )
    volume = rows.target.substr(0, rows.target.find("/current/BP-"))
    rows = rows.mutate(volume=volume)
    grouped = rows.group_by("host", "proc", "volume").agg(
        blocks=rows.block.nunique(), time=rows.dur.sum().fill_null(0).cast("int64")
    )
    return grouped.order_by("host", "proc", ibis.desc("time"))


@rule(
    title="A DataNode uses its volumes unevenly",
    evidence=Query(evidence, Volume),
    why="A DataNode is as fast as the volumes that it uses, and all others are idle.",
    unless="the volumes differ in size or speed, and are meant to be used unevenly.",
    explains=("disk-bound", "datanode-sync", "slow-disk"),
)
def judge(rows: list[Volume], facts: RunFacts) -> Judgement | None:
    uneven = []
    for proc in {row.proc for row in rows}:
        volumes = sorted((row for row in rows if row.proc == proc), key=lambda row: row.blocks)
        least, most = volumes[0], volumes[-1]
        blocks = sum(row.blocks for row in volumes)
        if blocks >= LEAST and most.blocks >= TIMES * least.blocks:
            even = sum(row.time for row in volumes) / len(volumes)
            uneven.append((most.time - even, most, least))
    if not uneven:
        return None
    cost, most, least = max(uneven, key=itemgetter(0))
    return Judgement(
        share=facts.share(cost),
        text=f"{count(most.blocks)} blocks went to {most.volume}, but only {count(least.blocks)} "
        f"to {least.volume} of the same DataNode",
        evidence=[
            Evidence("host", most.host or "", "text"),
            Evidence(f"blocks on {most.volume}", most.blocks, "count"),
            Evidence(f"blocks on {least.volume}", least.blocks, "count"),
            Evidence("time of calls beyond an even share", int(cost), "ns"),
        ],
        change=[
            Change("spread the blocks that are there, with hdfs diskbalancer -plan …"),
            Change(
                "place new blocks evenly",
                "dfs.datanode.fsdataset.volume.choosing.policy",
                after="RoundRobinVolumeChoosingPolicy",
            ),
        ],
        gain=(0.2, 1.0),
    )
