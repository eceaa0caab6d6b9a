"""Clients of HBase that write one row a request, and wait for the log each time."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, by_workers, one, operation_sums
from iostrata.text import count, seconds

LEAST = 500  # requests of one row


@rule(
    title="Rows are written to HBase in requests of their own",
    evidence=operation_sums(
        by_workers("hbase.put", "hbase.put_list"),
        by_all("hbase.mutate", "hbase.multi", "hbase.wait_sync", "hbase.sync_wal"),
    ),
    why="Each request waits until its entries of the write-ahead log are synced: a round trip "
    "through all DataNodes of the pipeline, or a write to a disk. A list of rows waits once.",
    unless="each row must be safe before the next one is written.",
    explains=("disk-bound", "frequent-flush", "small-writes", "rpc-queueing"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    put, mutate = one(rows, "hbase.put"), one(rows, "hbase.mutate")
    wait, sync = one(rows, "hbase.wait_sync"), one(rows, "hbase.sync_wal")
    # a server writes some rows to others itself
    of_client = put.calls * 2 > mutate.calls
    single = put if of_client else mutate
    lists = one(rows, "hbase.put_list" if of_client else "hbase.multi").calls
    if single.calls < LEAST or lists > single.calls:
        return None
    synced = f"; the log was synced {count(sync.calls)} times" if sync.calls else ""
    return Judgement(
        share=facts.share(single.time),
        text=f"{count(single.calls)} rows were written to HBase one a request, which took "
        f"{seconds(single.time)}{synced}",
        evidence=[
            Evidence("requests of one row", single.calls, "count"),
            Evidence("time of these requests", single.time, "ns"),
            Evidence("requests with lists of rows", lists, "count"),
            Evidence("syncs of the log", sync.calls, "count"),
            Evidence("time of requests that waited for a sync", wait.time, "ns"),
        ],
        change=[
            Change("write lists of rows: Table.put(List), or a BufferedMutator"),
            Change("send rows of a BufferedMutator less often", "hbase.client.write.buffer"),
            Change("wait for no sync where rows can be made again: Durability.ASYNC_WAL"),
        ],
        gain=(0.6, 0.95),
    )
