"""Amounts that grew over some time, spread over the bins of a time axis."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import part, quotient


def spread(rows: ir.Table, width: int, *amounts: str) -> ir.Table:
    """A row for each bin of `width` ns that a row of `rows` has touched, with its part of the
    `amounts`, which grew evenly from `begin` until `until` (ns, not below 0): whole numbers, whose
    sum is the amount. Bins are counted from 0; null stays null.
    """
    rows = rows.mutate(
        first=quotient(rows.begin, width),
        last=quotient(rows.until, width),
        length=ibis.greatest(rows.until - rows.begin, ibis.literal(1, "int64")),
    )
    rows = rows.mutate(bin=ibis.range(rows.first, rows.last + 1).unnest())

    def until(edge: ir.IntegerValue, amount: ir.IntegerValue) -> ir.IntegerValue:
        """What had grown by the begin of a bin: differences add up."""
        grown = part(amount, edge * width - rows.begin, rows.length)
        zero = ibis.ifelse(amount.isnull(), amount, 0)
        return ibis.cases((edge > rows.last, amount), (edge <= rows.first, zero), else_=grown)

    return rows.mutate(
        **{name: until(rows.bin + 1, rows[name]) - until(rows.bin, rows[name]) for name in amounts}
    ).drop("first", "last", "length")
