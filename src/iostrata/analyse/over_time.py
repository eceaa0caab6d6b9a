"""Calls and bytes of each layer over time: sums, spread over the bins of a time axis."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.bins import spread
from iostrata.analyse.tables import SUMS, bytes_by_direction, outer
from iostrata.records import Bytes, Count, Record
from iostrata.schema.directions import DIRECTIONS

SECOND = 10**9


class LayerBin(Record, frozen=True):
    """What a layer did in a bin of the time axis; bins are counted from 0."""

    layer: str
    bin: int
    calls: Count
    read: Bytes
    written: Bytes
    received: Bytes
    sent: Bytes


def over_time(start: int, width: int, within: int = SECOND, sums: ir.Table = SUMS) -> ir.Table:
    """Per layer and bin of `width` ns from `start` (ns since the epoch) a `LayerBin`, of all `sums`
    or of some of their rows. Bins before the first and after the last in which a layer did anything
    have no row.

    A row of sums says what was added until its end. The collector looks at least once a second, so
    it was added `within` that time before; a sum of an imported run may cover all of its time. The
    count of a row is spread over that time evenly, in whole bytes and calls, so that the bins of a
    layer add up to its total exactly. What a clock put before `start` belongs to the first bin.
    """
    rows = spread(_grown(start, within, sums), width, "amount")
    return (
        rows.group_by("layer", "bin")
        .agg(
            **{
                name: rows.amount.sum(where=rows.what == name).fill_null(0).cast("int64")
                for name in ("calls", *DIRECTIONS)
            }
        )
        .order_by("layer", "bin")
    )


def _grown(start: int, within: int, sums: ir.Table) -> ir.Table:
    """Of what grew over the same ns of a layer: layer, begin, until (ns from `start`), what (calls
    or a direction), amount.
    """
    zero = ibis.literal(0, "int64")
    since, end = sums.start - start, sums.start + sums.dur - start
    rows = sums.mutate(
        begin=ibis.greatest(since, end - within, zero), until=ibis.greatest(end, zero)
    )
    calls = rows["count"].sum(where=outer(rows)).fill_null(0).cast("int64")
    amounts = {"calls": calls, **bytes_by_direction(rows)}
    grouped = rows.group_by("layer", "begin", "until").agg(**amounts)
    parts = [
        grouped.select("layer", "begin", "until", what=ibis.literal(name), amount=name)
        for name in amounts
    ]
    every = ibis.union(*parts)
    return every.filter(every.amount > 0)
