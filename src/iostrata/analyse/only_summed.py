"""What is in sums only: calls that were not recorded individually, and those of which nothing says
what they were on.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, counted_once
from iostrata.records import Bytes, Count, Record

UNKNOWN = "unknown"


class OnlySummed(Record, frozen=True):
    """Of a layer: calls, nested ones too, and their bytes, each counted once."""

    layer: str
    calls: Count
    bytes: Bytes


class WithoutTarget(OnlySummed, frozen=True):
    """Of a layer and a category of targets: calls of which nothing says what they were on."""

    category: str


def without_target() -> ir.Table:
    """Each `WithoutTarget`: as many calls, and as many bytes, a target of its category may have
    beside those that it is known to have; most calls first.
    """
    sums = SUMS.mutate(category=SUMS.category.fill_null(UNKNOWN))
    calls = CALLS.mutate(category=CALLS.category.fill_null(UNKNOWN))
    return _beside(sums.filter(SUMS.target.fill_null("") == ""), calls, "layer", "category")


def only_summed(
    job: str | None = None, task: str | None = None, layers: tuple[str, ...] = ()
) -> ir.Table:
    """Each `OnlySummed` of a job, a task or some layers; most calls first."""

    def chosen(table: ir.Table) -> ir.Table:
        conditions = [] if job is None else [table.job == job]
        conditions += [] if task is None else [table.task == task]
        conditions += [table.layer.isin(layers)] if layers else []
        return table.filter(*conditions) if conditions else table

    return _beside(chosen(SUMS), chosen(CALLS), "layer")


def _beside(sums: ir.Table, calls: ir.Table, *keys: str) -> ir.Table:
    """What sums have beside the calls that were recorded individually, by keys without nulls."""
    summed = sums.group_by(*keys).agg(
        calls=sums["count"].sum(), bytes=sums.bytes.sum(where=counted_once(sums))
    )
    size = ibis.greatest(calls.bytes.fill_null(0), 0)
    recorded = calls.group_by(*keys).agg(
        recorded=calls.count(), recorded_bytes=size.sum(where=counted_once(calls))
    )
    both = summed.left_join(recorded, keys)
    rest = both.select(
        *keys,
        calls=(both.calls - both.recorded.fill_null(0)).cast("int64"),
        bytes=(both.bytes.fill_null(0) - both.recorded_bytes.fill_null(0)).cast("int64"),
    )
    return rest.filter(rest.calls > 0).order_by(ibis.desc("calls"), *keys)
