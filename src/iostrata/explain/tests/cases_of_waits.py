"""Runs that wait for syncs, locks, queues and round trips."""

from __future__ import annotations

from iostrata.explain.tests.made import MS, Case, did, link

CASES_OF_WAITS = (
    Case(
        "datanode-sync",
        "DataNodes synced their disks 600 times, which took 24.00 s together; writers waited "
        "15.00 s in sync and close",
        1 / 4,
        [
            did("hdfs", "sync", 300, 50 * MS),
            did("datanode", "disk_sync", 600, 40 * MS, "DataNode"),
        ],
    ),
    Case(
        "frequent-flush",
        "writers flushed 5 000 times, after every 100 bytes on average, and waited 15.00 s for "
        "the flushes",
        1 / 4,
        [did("hdfs", "sync", 5000, 3 * MS), did("hdfs", "send_packet", 5000, 0, bytes=500_000)],
    ),
    Case(
        "local-sync",
        "programs forced local files to disk 300 times, after every 100 bytes on average, which "
        "took 15.00 s",
        1 / 4,
        [did("java", "sync", 300, 50 * MS), did("java", "write", 300, 0, bytes=30_000)],
    ),
    Case(
        "namenode-edit-log",
        "150 changes of the namespace waited 15.00 s until the edit log was on disk; the "
        "longest wait took 100.0 ms",
        1 / 4,
        [link("namenode", "edit_synced", 100 * MS) for _ in range(150)],
    ),
    Case(
        "namenode-lock",
        "requests waited 15.00 s for the lock of the NameNode: 10.00 s to read and 5.00 s to "
        "write",
        1 / 4,
        [
            did("namenode", "read_lock", 100, 100 * MS, "NameNode"),
            did("namenode", "write_lock", 100, 50 * MS, "NameNode"),
        ],
    ),
    Case(
        "rpc-queueing",
        "300 requests waited 15.00 s in the queue of the NameNode; the longest wait took 50.0 "
        "ms",
        1 / 4,
        [link("rpc", "handle", 50 * MS) for _ in range(300)],
    ),
    Case(
        "wal-sync",
        "10 000 rows were written to HBase one a request, which took 30.00 s; the log was synced "
        "9 000 times",
        1 / 2,
        [
            did("hbase", "put", 10_000, 3 * MS, category="region"),
            did("hbase", "mutate", 10_000, 2 * MS, "HRegionServer", category="region"),
            did("hbase", "wait_sync", 10_000, MS, "HRegionServer", category="region"),
            did("hbase", "sync_wal", 9000, MS, "HRegionServer", category="wal"),
        ],
    ),
    Case(
        "scan-caching",
        "scans asked HBase 20 000 times for 1.0 rows on average, which took 20.00 s",
        1 / 3 * 0.9,
        [
            did("hbase", "fetch_rows", 20_000, MS, category="region"),
            did("hbase", "next_row", 20_000, 0, category="region"),
        ],
    ),
)  # fmt: skip
