"""Tasks that read their input from other hosts."""

from __future__ import annotations

from collections.abc import Mapping

from ibis.expr import types as ir

from iostrata.analyse.locality import sources
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import READS, one
from iostrata.records import Bytes, Record
from iostrata.text import percent, size

LEAST = 0.3  # of the bytes


class Route(Record, frozen=True):
    """Bytes that DataNodes of the host `source` sent to tasks on another, or on the same."""

    source: str | None
    host: str | None
    bytes: Bytes


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(sources())
    return rows.group_by("source", "host").agg(bytes=rows.bytes.sum()).order_by("source", "host")


@rule(
    title="Input is read from other hosts",
    evidence=Query(evidence, Route),
    why="Bytes from other hosts cross the network, where they compete with the shuffle and with "
    "replication.",
    unless="the network is idle and faster than the disks.",
    explains=("straggler", "slow-node"),
)
def judge(rows: list[Route], facts: RunFacts) -> Judgement | None:
    racks = facts.run.racks
    away = [row for row in rows if row.source != row.host]
    beside = [row for row in away if _rack(row.source, racks) == _rack(row.host, racks) is not None]
    total, from_others = _bytes(rows), _bytes(away)
    if len({row.host for row in rows}) < 2 or not total or from_others < LEAST * total:
        return None
    time = one(facts.answer(READS), "hdfs.read").time
    part = from_others / total
    return Judgement(
        share=facts.share(time * part),
        text=f"{percent(part)} of the {size(total)} that tasks read from DataNodes came from other "
        "hosts",
        evidence=[
            Evidence("bytes from other hosts", from_others, "bytes"),
            Evidence("bytes of these from the same rack", _bytes(beside), "bytes"),
            Evidence("bytes from the host of the task", total - from_others, "bytes"),
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


def _bytes(routes: list[Route]) -> int:
    return sum(route.bytes for route in routes)


def _rack(host: str | None, racks: Mapping[str, str]) -> str | None:
    return racks.get(host) if host else None
