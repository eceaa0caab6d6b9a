"""Tasks that read their input from other hosts."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.locality import locality
from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import account, named
from iostrata.text import size

LEAST = 0.3  # of the bytes


def evidence(scope: Scope) -> ir.Table:
    rows = locality(scope.racks)
    rows = rows.filter(rows.role.isin(scope.roles))
    return rows.agg(
        local=rows.local.sum().fill_null(0).cast("int64"),
        rack_local=rows.rack_local.sum().fill_null(0).cast("int64"),
        remote=rows.remote.sum().fill_null(0).cast("int64"),
        hosts=rows.host.nunique(),
    )


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    row = rows[0]
    away = row["rack_local"] + row["remote"]
    total = row["local"] + away
    if row["hosts"] < 2 or not total or away < LEAST * total:
        return None
    reads = facts.rows(account(facts.scope.workers(named("hdfs.read")), "layer"))
    time = reads[0]["time"] if reads else 0
    part = away / total
    return Seen(
        share=facts.share(time * part),
        text=f"{part:.0%} of the {size(total)} that tasks read from DataNodes came from other "
        "hosts",
        evidence=[
            Evidence("read from other hosts", away, "bytes"),
            Evidence("of these from the same rack", row["rack_local"], "bytes"),
            Evidence("read from the own host", row["local"], "bytes"),
            Evidence("time of all reads", time, "ns"),
        ],
        change=[
            Change("more replicas of hot input", "dfs.replication"),
            Change(
                "wait a little longer for a container beside the data",
                "yarn.scheduler.capacity.node-locality-delay",
                "40",
                "number of nodes",
            ),
            Change("spread blocks that were written on one node: hdfs balancer"),
        ],
        gain=(0.2, 0.8),
    )


RULE = Rule(
    name="low-locality",
    title="Input is read from other hosts",
    evidence=evidence,
    judge=judge,
    why="Remote bytes cross the network and compete with shuffle and replication.",
    unless="the network is faster than the disks and idle.",
    explains=("straggler", "slow-node"),
)
