"""What is in sums only: calls that were not recorded individually, and those of which nothing says
what they were on.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, counted_once
from iostrata.records import Bytes, Count, Record


class OnlySummed(Record, frozen=True):
    """Of a layer: calls, nested ones too, and their bytes, each counted once."""

    layer: str
    calls: Count
    bytes: Bytes


def without_target(layers: tuple[str, ...] = ()) -> ir.Table:
    """Each `OnlySummed` of some layers, without the calls of sums that know their target: as many
    calls, and as many bytes, a target may have beside those that it is known to have.
    """
    nameless = SUMS.filter(SUMS.target.fill_null("") == "")
    if not layers:
        return _beside(nameless, CALLS)
    return _beside(
        nameless.filter(nameless.layer.isin(layers)), CALLS.filter(CALLS.layer.isin(layers))
    )


def only_summed(
    job: str | None = None, task: str | None = None, layers: tuple[str, ...] = ()
) -> ir.Table:
    """Each `OnlySummed` of a job, a task or some layers; most calls first."""

    def chosen(table: ir.Table) -> ir.Table:
        conditions = [] if job is None else [table.job == job]
        conditions += [] if task is None else [table.task == task]
        conditions += [table.layer.isin(layers)] if layers else []
        return table.filter(*conditions) if conditions else table

    return _beside(chosen(SUMS), chosen(CALLS))


def _beside(sums: ir.Table, calls: ir.Table) -> ir.Table:
    """What sums have beside the calls that were recorded individually."""
    summed = sums.group_by("layer").agg(
        calls=sums["count"].sum(), bytes=sums.bytes.sum(where=counted_once(sums))
    )
    size = ibis.greatest(calls.bytes.fill_null(0), 0)
    recorded = calls.group_by(of_layer=calls.layer).agg(
        recorded=calls.count(), recorded_bytes=size.sum(where=counted_once(calls))
    )
    both = summed.left_join(recorded, summed.layer == recorded.of_layer)
    rest = both.select(
        "layer",
        calls=(both.calls - both.recorded.fill_null(0)).cast("int64"),
        bytes=(both.bytes.fill_null(0) - both.recorded_bytes.fill_null(0)).cast("int64"),
    )
    return rest.filter(rest.calls > 0).order_by(ibis.desc("calls"), "layer")
