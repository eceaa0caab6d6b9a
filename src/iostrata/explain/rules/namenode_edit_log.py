"""Changes of the name space that wait until the edit log is on disk."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.waits import queues
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Judgement, Rule
from iostrata.explain.rules.parts import Waiting, waiting
from iostrata.text import count, seconds

LEAST = 100  # edits


def evidence(scope: Scope) -> ir.Table:
    rows = queues()
    return waiting(rows.filter(rows.layer == "namenode", rows["op"] == "edit_synced"))


def judge(rows: list[Waiting], facts: Facts) -> Judgement | None:
    row = rows[0]
    if row.waits < LEAST:
        return None
    return Judgement(
        share=facts.share(row.time),
        text=f"{count(row.waits)} changes of the name space waited {seconds(row.time)} "
        f"until the edit log was on disk, the longest {seconds(row.longest)}",
        evidence=[
            Evidence("changes", row.waits, "count"),
            Evidence("time they waited", row.time, "ns"),
            Evidence("the longest", row.longest, "ns"),
        ],
        change=[
            Change("a disk of its own, fast to sync, for edits", "dfs.namenode.edits.dir"),
            Change("fewer changes: fewer files and directories, one rename instead of many"),
        ],
        gain=(0.5, 1.0),
    )


RULE = Rule(
    name="namenode-edit-log",
    title="The NameNode waits for its edit log",
    row=Waiting,
    evidence=evidence,
    judge=judge,
    why="Each create, mkdir, rename and delete is answered when the edit log has been synced; many "
    "clients share a sync, one client alone waits for each.",
    unless="the client does other work meanwhile.",
)
