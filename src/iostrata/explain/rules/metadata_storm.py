"""Programs that ask the NameNode far more often than they read or write."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import OperationSum, one, work
from iostrata.text import count, seconds

LEAST = 500  # questions
ASKING = ("stat", "list", "locate")


def evidence(scope: Scope) -> ir.Table:
    return work(scope, *(f"hdfs.{op}" for op in (*ASKING, "open", "create")))


def judge(rows: list[OperationSum], facts: Facts) -> Judgement | None:
    asked = {op: one(rows, f"hdfs.{op}") for op in ASKING}
    calls = sum(row.calls for row in asked.values())
    used = one(rows, "hdfs.open").calls + one(rows, "hdfs.create").calls
    if calls < LEAST or calls < 4 * used:
        return None
    time = sum(row.time for row in asked.values())
    return Judgement(
        share=facts.share(time),
        text=f"{count(calls)} questions about files for {count(used)} files opened or created; "
        f"they took {seconds(time)}",
        evidence=[
            *(Evidence(f"calls of {op}", row.calls, "count") for op, row in asked.items()),
            Evidence("files opened or created", used, "count"),
            Evidence("time of the questions", time, "ns"),
        ],
        change=[
            Change("list a directory once instead of asking for each file"),
            Change("keep what does not change; open a file and handle its absence"),
        ],
        gain=(0.6, 1.0),
    )


RULE = Rule(
    name="metadata-storm",
    title="Many questions to the NameNode",
    row=OperationSum,
    evidence=evidence,
    judge=judge,
    why="Each question is a round trip, and all clients share one NameNode.",
    unless="the program exists to list files.",
)
