"""What each layer did, by operation."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, outer
from iostrata.records import Count, Record


class OperationCalls(Record, frozen=True):
    """Calls of an operation that lie within no other call of its layer, those that are nested in
    one, and errors.
    """

    layer: str
    op: str
    calls: Count
    nested: Count
    errors: Count


def operations() -> ir.Table:
    """Each `OperationCalls`. From sums: none is missing."""
    rows = SUMS
    own = outer(rows)
    grouped = rows.group_by("layer", "op").agg(
        calls=rows["count"].sum(where=own).fill_null(0).cast("int64"),
        nested=rows["count"].sum(where=~own).fill_null(0).cast("int64"),
        errors=rows.errors.sum(where=own).fill_null(0).cast("int64"),
    )
    return grouped.order_by("layer", "op")
