"""Changes of the name space that wait until the edit log is on disk."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import Row
from iostrata.analyse.waits import queues
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.text import count, seconds

LEAST = 100  # edits


def evidence(scope: Scope) -> ir.Table:
    rows = queues()
    rows = rows.filter(rows.layer == "namenode", rows["op"] == "edit_synced")
    return rows.agg(
        edits=rows.waits.sum().fill_null(0).cast("int64"),
        waited=rows.time.sum().fill_null(0).cast("int64"),
        longest=rows.longest.max().fill_null(0),
    )


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    row = rows[0]
    if row["edits"] < LEAST:
        return None
    return Seen(
        share=facts.share(row["waited"]),
        text=f"{count(row['edits'])} changes of the name space waited {seconds(row['waited'])} "
        f"until the edit log was on disk, the longest {seconds(row['longest'])}",
        evidence=[
            Evidence("changes", row["edits"], "count"),
            Evidence("time they waited", row["waited"], "ns"),
            Evidence("the longest", row["longest"], "ns"),
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
    evidence=evidence,
    judge=judge,
    why="Each create, mkdir, rename and delete is answered when the edit log has been synced; many "
    "clients share a sync, one client alone waits for each.",
    unless="the client does other work meanwhile.",
)
