"""What applications asked of HDFS: the requests that a NameNode and its DataNodes have to serve."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, counted_once, outer

# Operations of the layer hdfs that applications ask for; what is opened is read.
REQUESTS = ("open", "stat", "list", "create", "append", "rename", "delete")


def asked() -> ir.Table:
    """Requests that were kept one by one, in order: start, dur (ns), op, target, proc, tid."""
    rows = CALLS.filter(CALLS.layer == "hdfs", CALLS["op"].isin(REQUESTS), outer(CALLS))
    found = rows.select("start", "dur", "op", "target", "proc", "tid")
    return found.order_by("start", "proc", "tid", "target")


def asked_totals() -> ir.Table:
    """op: each of REQUESTS, and `read` and `write` of files in HDFS; calls, bytes. From sums: none
    is missing.
    """
    hdfs = SUMS.layer == "hdfs"
    read = hdfs & SUMS["op"].isin(["read", "read_vectored"]) & counted_once(SUMS)
    written = (SUMS.layer == "fs") & (SUMS["op"] == "write") & counted_once(SUMS)
    written = written & (SUMS.category.fill_null("") == "hdfs")
    rows = SUMS.filter((hdfs & SUMS["op"].isin(REQUESTS) & outer(SUMS)) | read | written)
    name = ibis.ifelse(rows["op"] == "read_vectored", "read", rows["op"])
    found = rows.group_by(op=name).agg(
        calls=rows["count"].sum().cast("int64"), bytes=rows.bytes.sum().cast("int64")
    )
    return found.order_by("op")
