"""Requests that wait in the NameNode's queue for a handler."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import Waiting, waiting
from iostrata.text import count, seconds

LEAST = 200  # requests


@rule(
    title="Requests queue at the NameNode",
    evidence=waiting("rpc.handle", "NameNode"),
    why="A request that finds no free handler waits, however short its own work is.",
    unless="all handlers wait for the lock or the edit log: then more of them would not help.",
    explains=("metadata-storm",),
)
def judge(rows: list[Waiting], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.waits < LEAST:
        return None
    return Judgement(
        share=facts.share(row.time),
        text=f"{count(row.waits)} requests waited {seconds(row.time)} in the queue of the "
        f"NameNode; the longest wait took {seconds(row.longest)}",
        evidence=[
            Evidence("requests", row.waits, "count"),
            Evidence("time in the queue", row.time, "ns"),
            Evidence("longest wait", row.longest, "ns"),
        ],
        change=[
            Change(
                "use more handlers",
                "dfs.namenode.handler.count",
                after="20 × ln(nodes), at least 50",
            ),
            Change("keep DataNodes out of this queue", "dfs.namenode.servicerpc-address"),
            Change("be fair to small callers", "ipc.8020.callqueue.impl", after="FairCallQueue"),
        ],
        gain=(0.4, 0.9),
    )
