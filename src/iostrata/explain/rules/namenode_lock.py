"""Requests that wait for the lock of the namespace."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, account, named, one
from iostrata.text import count, seconds

LEAST = 100  # locks
LOCKS = ("namenode.read_lock", "namenode.write_lock")


@rule(
    title="Requests wait for the lock of the NameNode",
    evidence=Query(lambda _: account(named(*LOCKS), "layer", "op").order_by("op"), OperationSum),
    why="One lock guards the namespace. A request that holds it to write keeps all others out.",
    unless="requests wait for a checkpoint or a start, which ends by itself.",
    explains=("metadata-storm", "rpc-queueing"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    read, write = (one(rows, lock) for lock in LOCKS)
    waited = read.time + write.time
    if read.calls + write.calls < LEAST:
        return None
    return Judgement(
        share=facts.share(waited),
        text=f"requests waited {seconds(waited)} for the lock of the NameNode: "
        f"{seconds(read.time)} to read and {seconds(write.time)} to write",
        evidence=[
            Evidence("locks to read", read.calls, "count"),
            Evidence("wait for locks to read", read.time, "ns"),
            Evidence("locks to write", write.calls, "count"),
            Evidence("wait for locks to write", write.time, "ns"),
        ],
        change=[
            Change(
                "find out which requests hold the lock for long: large deletes, du and count of "
                f"large directories, listings of {count(10**5)} entries"
            ),
            Change("give up the lock more often", "dfs.content-summary.limit", after="500"),
            Change("delete in smaller steps", "dfs.namenode.block.deletion.increment"),
        ],
        gain=(0.4, 1.0),
    )
