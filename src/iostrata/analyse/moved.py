"""What each host did in each layer for each job: calls, bytes, and how long calls took."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.buckets import bucket
from iostrata.analyse.tables import CALLS, SUMS, bytes_by_direction, outer
from iostrata.schema.directions import BYTES_COLUMN


def moved() -> ir.Table:
    """Per host, layer and job: host, layer, job ('' for none), calls (not within one of the
    layer), bytes_read, bytes_written, bytes_received, bytes_sent. From sums: none is missing.
    """
    rows = SUMS.mutate(job=SUMS.job.fill_null(""))
    found = rows.group_by("host", "layer", "job").agg(
        calls=rows["count"].sum(where=outer(rows)).fill_null(0).cast("int64"),
        **{BYTES_COLUMN[name]: value for name, value in bytes_by_direction(rows).items()},
    )
    return found.order_by("host", "layer", "job")


def times() -> ir.Table:
    """Per host, layer, job and bucket of `analyse.buckets`: host, layer, job, bucket, calls, dur
    (ns). Of calls kept one by one, nested ones too.
    """
    rows = CALLS.filter(CALLS.dur.notnull())
    rows = rows.mutate(job=rows.job.fill_null(""), bucket=bucket(rows.dur))
    found = rows.group_by("host", "layer", "job", "bucket").agg(
        calls=rows.count().cast("int64"), dur=rows.dur.sum().cast("int64")
    )
    return found.order_by("host", "layer", "job", "bucket")
