"""What the bytes of a layer belong to, and in which kind of process they were moved."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, bytes_by_direction
from iostrata.records import Bytes, Record
from iostrata.schema.directions import BYTES_COLUMN


class Category(Record, frozen=True):
    """Bytes of a layer, category and role; '' for none."""

    layer: str
    category: str
    role: str
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes


def categories() -> ir.Table:
    """Each `Category` that has bytes, the most first. From sums: none is missing."""
    rows = SUMS.mutate(category=SUMS.category.fill_null(""), role=SUMS.role.fill_null(""))
    moved = bytes_by_direction(rows)
    totals = rows.group_by("layer", "category", "role").agg(
        **{column: moved[direction] for direction, column in BYTES_COLUMN.items()}
    )
    columns = [totals[column] for column in BYTES_COLUMN.values()]
    totals = totals.mutate(all=sum(columns[1:], start=columns[0]))
    totals = totals.filter(totals["all"] > 0)
    order = (ibis.desc("all"), "layer", "category", "role")
    return totals.order_by(*order).drop("all")
