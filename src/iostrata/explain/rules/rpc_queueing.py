"""Requests that wait in the NameNode's queue for a handler."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.analyse.waits import queues
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.text import count, seconds

LEAST = 200  # requests


def evidence(scope: Scope) -> ir.Table:
    rows = queues()
    rows = rows.filter(rows.layer == "rpc", rows["op"] == "handle", rows.role == "NameNode")
    return rows.agg(
        requests=rows.waits.sum().fill_null(0).cast("int64"),
        waited=rows.time.sum().fill_null(0).cast("int64"),
        longest=rows.longest.max().fill_null(0),
    )


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    row = rows[0]
    if row["requests"] < LEAST:
        return None
    return Seen(
        share=facts.share(row["waited"]),
        text=f"{count(row['requests'])} requests waited {seconds(row['waited'])} in the "
        f"NameNode's queue, the longest {seconds(row['longest'])}",
        evidence=[
            Evidence("requests", row["requests"], "count"),
            Evidence("time in the queue", row["waited"], "ns"),
            Evidence("the longest", row["longest"], "ns"),
        ],
        change=[
            Change(
                "more handlers", "dfs.namenode.handler.count", "10", "20 × ln(nodes), at least 50"
            ),
            Change("keep DataNodes out of the queue", "dfs.namenode.servicerpc-address"),
            Change("be fair to small callers", "ipc.8020.callqueue.impl", "", "FairCallQueue"),
        ],
        gain=(0.4, 0.9),
    )


RULE = Rule(
    name="rpc-queueing",
    title="Requests queue at the NameNode",
    evidence=evidence,
    judge=judge,
    why="A request that finds no free handler waits, however short its own work.",
    unless="the handlers all wait for the lock or the edit log: more of them would not help.",
    explains=("metadata-storm",),
)
