"""Requests merged as a disk would see them: one after the other in place and in time (S3.4)."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.buckets import bucket
from iostrata.analyse.tables import CALLS, direction, moving
from iostrata.records import Bytes, Count, EpochNs, Record

TOGETHER = 10**9  # ns between the end of one and the begin of the next, at the most


class Stream(Record, frozen=True):
    """What one process reads from, or writes to, one file or block."""

    host: str | None
    proc: int | None
    layer: str
    direction: str
    target: str
    block: int


STREAM = Stream.__struct_fields__


class MergedRequest(Stream, frozen=True):
    """Requests of a stream that follow each other; `run`: their number, from 0."""

    run: int
    start: EpochNs
    end: EpochNs
    offset: Bytes
    bytes: Bytes
    calls: Count


class MergedSize(Record, frozen=True):
    """Requests whose bytes are of one bucket (`analyse.buckets`): `runs` of `calls`."""

    layer: str
    direction: str
    bucket: int
    runs: Count
    calls: Count
    bytes: Bytes


def requests() -> ir.Table:
    """Calls that were recorded individually and transferred data at a known place, with the
    `direction` of the data.

    Those without a target or block have '' and 0, so that streams can be compared.
    """
    rows = moved()
    return rows.filter(rows.offset >= 0)


def moved() -> ir.Table:
    """Likewise, also those whose place is not known."""
    rows = moving(CALLS)
    return rows.filter(rows.bytes > 0).mutate(
        direction=direction(rows), target=rows.target.fill_null(""), block=rows.block.fill_null(0)
    )


def runs(together: int = TOGETHER) -> ir.Table:
    """Each `MergedRequest`.

    A request belongs to the run before it in its stream when it begins where that ends, and within
    `together` ns. Windows are by start, then offset: both engines order alike.
    """
    rows = requests()
    order = [rows.start, rows.offset, rows.bytes]
    window = ibis.window(group_by=STREAM, order_by=order)
    rows = rows.mutate(
        follows=(rows.offset + rows.bytes).lag().over(window),
        until=(rows.start + rows.dur).lag().over(window),
    )
    begins = (rows.follows.isnull()) | (rows.follows != rows.offset)
    begins = begins | (rows.start - rows.until > together)
    rows = rows.mutate(begins=begins.cast("int64"))
    window = ibis.cumulative_window(group_by=STREAM, order_by=[rows.start, rows.offset, rows.bytes])
    rows = rows.mutate(run=rows.begins.sum().over(window).cast("int64") - 1)
    return rows.group_by(*STREAM, "run").agg(
        start=rows.start.min(),
        end=(rows.start + rows.dur).max(),
        offset=rows.offset.min(),
        bytes=rows.bytes.sum().cast("int64"),
        calls=rows.count(),
    )


def merged(together: int = TOGETHER) -> ir.Table:
    """Per layer, direction and bucket a `MergedSize`."""
    return _by_size(runs(together))


def unmerged() -> ir.Table:
    """Likewise, of the requests as they were: each is a run of one call."""
    return _by_size(requests().mutate(calls=ibis.literal(1, "int64")))


def _by_size(merges: ir.Table) -> ir.Table:
    merges = merges.mutate(bucket=bucket(merges.bytes))
    return (
        merges.group_by("layer", "direction", "bucket")
        .agg(
            runs=merges.count(),
            calls=merges.calls.sum().cast("int64"),
            bytes=merges.bytes.sum().cast("int64"),
        )
        .order_by("layer", "direction", "bucket")
    )
