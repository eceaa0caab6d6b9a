"""What each host did in each layer for each job: calls, bytes, and how long calls took."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.buckets import bucket
from iostrata.analyse.tables import CALLS, SUMS, bytes_by_direction, outer
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN


class Moved(Record, frozen=True):
    """Of a host, layer and job ('': none); calls within another of their layer do not count."""

    host: str
    layer: str
    job: str
    calls: Count
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes


class Timed(Record, frozen=True):
    """Calls of a host, layer and job ('' for none) that fell in one bucket of `analyse.buckets`;
    `dur` is that of all of them.
    """

    host: str
    layer: str
    job: str
    bucket: int
    calls: Count
    dur: Ns


def moved() -> ir.Table:
    """Each `Moved`. From sums: none is missing."""
    rows = SUMS.mutate(host=SUMS.host.fill_null(""), job=SUMS.job.fill_null(""))
    grouped = rows.group_by("host", "layer", "job").agg(
        calls=rows["count"].sum(where=outer(rows)).fill_null(0).cast("int64"),
        **{BYTES_COLUMN[name]: value for name, value in bytes_by_direction(rows).items()},
    )
    return grouped.order_by("host", "layer", "job")


def times() -> ir.Table:
    """Each `Timed`, of the calls that were recorded individually, nested ones too."""
    rows = CALLS.filter(CALLS.dur.notnull())
    rows = rows.mutate(
        host=rows.host.fill_null(""), job=rows.job.fill_null(""), bucket=bucket(rows.dur)
    )
    grouped = rows.group_by("host", "layer", "job", "bucket").agg(
        calls=rows.count().cast("int64"), dur=rows.dur.sum().cast("int64")
    )
    return grouped.order_by("host", "layer", "job", "bucket")
