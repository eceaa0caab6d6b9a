"""What each layer did, by operation."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, outer


def operations() -> ir.Table:
    """Per layer and operation: layer, op, calls (not within one of the layer), nested (within one),
    errors. From sums: none is missing.
    """
    rows = SUMS
    own = outer(rows)
    found = rows.group_by("layer", "op").agg(
        calls=rows["count"].sum(where=own).fill_null(0).cast("int64"),
        nested=rows["count"].sum(where=~own).fill_null(0).cast("int64"),
        errors=rows.errors.sum(where=own).fill_null(0).cast("int64"),
    )
    return found.order_by("layer", "op")
