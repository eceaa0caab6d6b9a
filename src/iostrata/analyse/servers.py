"""What servers did: operations and waits of NameNodes, and of each DataNode beside the others."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, counted_once
from iostrata.records import Bytes, Count, Ns, Record

# Steps of a DataNode that wait for its disks alone. A transfer from disk to socket waits for the
# reader, too, and is none.
DISK = ("write", "flush", "disk_flush", "disk_sync", "disk_sync_dir")


class NameNodeOperation(Record, frozen=True):
    """An operation of the NameNode of a host; `time` is that of the `timed` calls."""

    host: str | None
    op: str
    calls: Count
    time: Ns
    timed: Count
    max: Ns | None
    errors: Count


class DiskStep(Record, frozen=True):
    """A step of a DataNode that waits for its disks; `time` is that of the `timed` calls."""

    host: str | None
    proc: int | None
    op: str
    calls: Count
    bytes: Bytes
    time: Ns
    timed: Count
    max: Ns | None


def namenode() -> ir.Table:
    """Per host and operation a `NameNodeOperation`; the longest first. Locks and the edit log are
    operations too.
    """
    rows = SUMS.filter(SUMS.layer == "namenode")
    grouped = rows.group_by("host", "op").agg(
        calls=rows["count"].sum().cast("int64"),
        time=rows.timed_dur.sum().fill_null(0).cast("int64"),
        timed=rows.timed.sum().fill_null(0).cast("int64"),
        max=rows["max"].max(),
        errors=rows.errors.sum().fill_null(0).cast("int64"),
    )
    return grouped.order_by(ibis.desc("time"), "host", "op")


def disks() -> ir.Table:
    """Per DataNode and step a `DiskStep`. A slow disk takes longer for the same step than those of
    other nodes.
    """
    rows = SUMS.filter(SUMS.layer == "datanode", SUMS["op"].isin(DISK))
    grouped = rows.group_by("host", "proc", "op").agg(
        calls=rows["count"].sum().cast("int64"),
        bytes=rows.bytes.sum(where=counted_once(rows)).fill_null(0).cast("int64"),
        time=rows.timed_dur.sum().fill_null(0).cast("int64"),
        timed=rows.timed.sum().fill_null(0).cast("int64"),
        max=rows["max"].max(),
    )
    return grouped.order_by("op", "host", "proc")
