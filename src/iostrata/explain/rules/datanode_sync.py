"""Writers that wait until DataNodes have synced their disks."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, RunFacts, rule
from iostrata.explain.rules.parts import OperationSum, by_all, by_workers, one, operation_sums
from iostrata.text import count, seconds

LEAST = 50  # syncs
OF_HBASE = [Change("let the log be in memory of DataNodes", "hbase.wal.hsync", after="false")]


@rule(
    title="Writers wait until disks have synced",
    evidence=operation_sums(
        by_workers("hdfs.sync", "hdfs.close"),
        by_all("datanode.disk_sync", "datanode.disk_sync_dir"),
    ),
    why="hsync() returns when every DataNode of the pipeline has written the bytes to its disk. "
    "That takes milliseconds, however few bytes there are.",
    unless="each record must survive a power failure of all replicas, as in a write-ahead log.",
    explains=("disk-bound", "frequent-flush", "slow-network"),
)
def judge(rows: list[OperationSum], facts: RunFacts) -> Judgement | None:
    disk = one(rows, "datanode.disk_sync")
    synced = disk.time + one(rows, "datanode.disk_sync_dir").time
    waits = one(rows, "hdfs.sync").time + one(rows, "hdfs.close").time
    if disk.calls < LEAST:
        return None
    cost = min(synced, waits)
    return Judgement(
        share=facts.share(cost),
        text=f"DataNodes synced their disks {count(disk.calls)} times, which took "
        f"{seconds(synced)} together; writers waited {seconds(waits)} in sync and close",
        evidence=[
            Evidence("syncs of disks", disk.calls, "count"),
            Evidence("time of these syncs", synced, "ns"),
            Evidence("time of writers in sync and close", waits, "ns"),
        ],
        change=[
            Change(
                "call hflush() where readers have to see the bytes, and hsync() only where the "
                "bytes must survive a power failure; sync once for many records"
            ),
            *(OF_HBASE if facts.kind == "hbase" else []),
            Change("do not sync when closing a file", "dfs.datanode.synconclose", after="false"),
        ],
        gain=(0.6, 1.0),
    )
