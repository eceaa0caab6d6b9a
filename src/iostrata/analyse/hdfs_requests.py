"""What applications asked of HDFS: the requests that a NameNode and its DataNodes have to serve."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, counted_once, in_hdfs, outer
from iostrata.records import Bytes, Count, EpochNs, Ns, Record

# Operations of the layer hdfs that applications ask for; what is opened is read.
REQUESTS = ("open", "stat", "list", "create", "append", "rename", "delete")


class HdfsRequest(Record, frozen=True):
    """A request of an application that was recorded individually; its target is '' if unknown."""

    start: EpochNs
    dur: Ns
    op: str
    target: str
    proc: int
    tid: int


class HdfsRequestTotal(Record, frozen=True):
    """All requests of an operation: of REQUESTS, or `read` and `write` of files in HDFS."""

    op: str
    calls: Count
    bytes: Bytes


def hdfs_requests() -> ir.Table:
    """Each `HdfsRequest`, in order."""
    rows = CALLS.filter(CALLS.layer == "hdfs", CALLS["op"].isin(REQUESTS), outer(CALLS))
    rows = rows.select("start", "dur", "op", "proc", "tid", target=rows.target.fill_null(""))
    return rows.order_by("start", "proc", "tid", "target")


def hdfs_request_totals() -> ir.Table:
    """Per operation an `HdfsRequestTotal`. From sums: none is missing."""
    hdfs = SUMS.layer == "hdfs"
    read = hdfs & SUMS["op"].isin(["read", "read_vectored"]) & counted_once(SUMS)
    written = (SUMS.layer == "fs") & (SUMS["op"] == "write") & counted_once(SUMS)
    written = written & in_hdfs(SUMS)
    rows = SUMS.filter((hdfs & SUMS["op"].isin(REQUESTS) & outer(SUMS)) | read | written)
    name = ibis.ifelse(rows["op"] == "read_vectored", "read", rows["op"])
    grouped = rows.group_by(op=name).agg(
        calls=rows["count"].sum().cast("int64"), bytes=rows.bytes.sum().cast("int64")
    )
    return grouped.order_by("op")
