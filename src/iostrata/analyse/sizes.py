"""Sizes of requests and how long they took, in buckets that can be added up."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.buckets import bucket
from iostrata.analyse.tables import CALLS, SUMS, moving, outer


def size_classes() -> ir.Table:
    """All requests that moved data: layer, op, size_class (1 + floor(log2(bytes)); 0: none), calls,
    bytes. From sums, so that none is missing.
    """
    rows = moving(SUMS)
    found = rows.group_by("layer", "op", "size_class").agg(
        calls=rows["count"].sum().cast("int64"), bytes=rows.bytes.sum().cast("int64")
    )
    return found.order_by("layer", "op", "size_class")


def sizes() -> ir.Table:
    """Requests kept one by one that moved data: layer, op, bucket (of bytes), calls, bytes."""
    rows = moving(CALLS)
    return _by_bucket(rows, rows.bytes, "bytes")


def latencies() -> ir.Table:
    """Calls kept one by one: layer, op, bucket (of ns), calls, time (ns)."""
    rows = CALLS.filter(CALLS.dur.notnull(), outer(CALLS))
    return _by_bucket(rows, rows.dur, "time")


def _by_bucket(rows: ir.Table, value: ir.IntegerColumn, name: str) -> ir.Table:
    rows = rows.select("layer", "op", bucket=bucket(value), value=value)
    found = rows.group_by("layer", "op", "bucket")
    return found.agg(calls=rows.count(), **{name: rows.value.sum().cast("int64")}).order_by(
        "layer", "op", "bucket"
    )
