"""Changes of the namespace that wait until the edit log is on disk."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import Waiting, waiting
from iostrata.text import count, seconds

LEAST = 100  # edits


@rule(
    title="The NameNode waits for its edit log",
    evidence=waiting("namenode.edit_synced"),
    why="The NameNode answers a create, mkdir, rename or delete when it has synced its edit log. "
    "Many clients share a sync, but a client that is alone waits for each one.",
    unless="the client does other work meanwhile.",
)
def judge(rows: list[Waiting], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.waits < LEAST:
        return None
    return Judgement(
        share=facts.share(row.time),
        text=f"{count(row.waits)} changes of the namespace waited {seconds(row.time)} until the "
        f"edit log was on disk; the longest wait took {seconds(row.longest)}",
        evidence=[
            Evidence("changes of the namespace", row.waits, "count"),
            Evidence("time that they waited", row.time, "ns"),
            Evidence("longest wait", row.longest, "ns"),
        ],
        change=[
            Change("keep edits on a disk of their own that syncs fast", "dfs.namenode.edits.dir"),
            Change("make fewer changes: fewer files and directories, one rename instead of many"),
        ],
    )
