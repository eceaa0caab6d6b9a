"""Sizes of requests, in classes and in buckets that can be added up."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.buckets import bucket
from iostrata.analyse.tables import CALLS, SUMS, moving
from iostrata.records import Bytes, Count, Record


class SizeClass(Record, frozen=True):
    """Requests of an operation that moved as many bytes: the class is 1 + floor(log2(bytes)), 0 for
    none.
    """

    layer: str
    op: str
    size_class: int | None
    calls: Count
    bytes: Bytes


def size_classes() -> ir.Table:
    """`SizeClass`es of all requests that moved data. From sums, so that none is missing."""
    rows = moving(SUMS)
    found = rows.group_by("layer", "op", "size_class").agg(
        calls=rows["count"].sum().cast("int64"), bytes=rows.bytes.sum().cast("int64")
    )
    return found.order_by("layer", "op", "size_class")


class SizeBucket(Record, frozen=True):
    """Requests of an operation that moved as many bytes as a bucket of `buckets` says."""

    layer: str
    op: str
    bucket: int
    calls: Count
    bytes: Bytes


def sizes() -> ir.Table:
    """`SizeBucket`s of the requests that moved data and were recorded individually."""
    rows = moving(CALLS)
    rows = rows.select("layer", "op", "bytes", bucket=bucket(rows.bytes))
    keys = ("layer", "op", "bucket")
    found = rows.group_by(*keys).agg(calls=rows.count(), bytes=rows.bytes.sum().cast("int64"))
    return found.order_by(*keys)
