"""Calls, bytes and time of sums, the time of points with sampled clocks scaled up."""

from __future__ import annotations

from collections.abc import Callable

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import bytes_by_direction, counted_once, outer
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.events import FIRST_USER_POINT

Counted = Callable[[ir.Table], ir.BooleanValue]
DEVIATIONS = 2.576  # of a normal distribution: 99 of 100 values are closer to its mean


class Account(Record, frozen=True):
    """What `account` adds up; a subclass has the keys.

    Where clocks were sampled `time` is `estimated`, and 99 of 100 estimates are closer to the truth
    than `time_bound`.
    """

    calls: Count
    time: Ns
    time_bound: Ns
    estimated: bool
    errors: Count
    bytes: Bytes
    read: Bytes
    written: Bytes
    received: Bytes
    sent: Bytes


def account(
    rows: ir.Table, *keys: str, counted: Counted = outer, moved: Counted = counted_once
) -> ir.Table:
    """Of sums, per `keys`, an `Account`: time is that of all threads.

    Calls and time are of what is `counted`: `outer` for layers, `counted_once` for operations,
    which may lie within others of their layer. `bytes` are of what is `moved`: what an enclosing
    call counts is left out. What is within a counted-only call and recorded individually adds its
    exact time.
    """
    own = counted(rows)
    # each process gives points of users ids of its own
    rows = rows.mutate(whose=ibis.ifelse(rows.point >= FIRST_USER_POINT, rows.proc, 0), own=own)

    def of_own(value: ir.IntegerValue) -> ir.IntegerScalar:
        return value.sum(where=rows.own).fill_null(0).cast("int64")

    by_point = rows.group_by(*keys, "point", "whose").agg(
        calls=of_own(rows["count"]),
        errors=of_own(rows.errors),
        weight=of_own(rows.weight.fill_null(rows.timed)),
        timed=of_own(rows.timed),
        spread=rows.spread.sum(where=rows.own).fill_null(0.0),
        timed_dur=of_own(rows.timed_dur),
        inside=of_own(rows.inside.fill_null(0)),
        bytes=rows.bytes.sum(where=moved(rows)).fill_null(0).cast("int64"),
        **bytes_by_direction(rows),
    )
    scale = (by_point.calls / by_point.weight.nullif(0)).fill_null(0.0)
    by_point = by_point.mutate(
        time=by_point.inside + (by_point.timed_dur * scale).floor().cast("int64"),
        variance=by_point.spread * scale * scale,
    )
    names = ("calls", "time", "errors", "bytes", *DIRECTIONS)
    bound = DEVIATIONS * by_point.variance.sum().sqrt()
    return by_point.group_by(*keys).agg(
        **{name: by_point[name].sum().cast("int64") for name in names},
        time_bound=bound.round().cast("int64"),
        estimated=(by_point.timed < by_point.calls).any(),
    )
