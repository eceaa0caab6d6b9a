"""Tasks that read their input from other hosts."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.locality import locality
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import READS, one, totals
from iostrata.records import Bytes, Count, Record
from iostrata.text import percent, size

LEAST = 0.3  # of the bytes


class Origins(Record, frozen=True):
    """Bytes that DataNodes sent to tasks, by where they came from."""

    local: Bytes
    rack_local: Bytes
    remote: Bytes
    hosts: Count


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(locality(workforce.racks))
    return rows.agg(**totals(rows, "local", "rack_local", "remote"), hosts=rows.host.nunique())


@rule(
    title="Input is read from other hosts",
    evidence=Query(evidence, Origins),
    why="Bytes from other hosts cross the network, where they compete with the shuffle and with "
    "replication.",
    unless="the network is idle and faster than the disks.",
    explains=("straggler", "slow-node"),
)
def judge(rows: list[Origins], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    away = row.rack_local + row.remote
    total = row.local + away
    if row.hosts < 2 or not total or away < LEAST * total:
        return None
    time = one(facts.answer(READS), "hdfs.read").time
    part = away / total
    return Judgement(
        share=facts.share(time * part),
        text=f"{percent(part)} of the {size(total)} that tasks read from DataNodes came from other "
        "hosts",
        evidence=[
            Evidence("bytes from other hosts", away, "bytes"),
            Evidence("bytes of these from the same rack", row.rack_local, "bytes"),
            Evidence("bytes from the host of the task", row.local, "bytes"),
            Evidence("time of all reads", time, "ns"),
        ],
        change=[
            Change("keep more replicas of input that many tasks read", "dfs.replication"),
            Change(
                "wait a little longer for a container beside the data",
                "yarn.scheduler.capacity.node-locality-delay",
                after="number of nodes",
            ),
            Change("spread blocks that were all written on one node, with hdfs balancer"),
        ],
        gain=(0.2, 0.8),
    )
