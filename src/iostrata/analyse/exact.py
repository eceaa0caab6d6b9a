"""Divisions of integers that engines do alike: their own are divisions of doubles."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

_WHOLE = "decimal(19, 0)"  # what an int64 fits into; two of them multiplied fit into 38 digits


def quotient(value: ir.IntegerValue, by: ir.IntegerValue | int) -> ir.IntegerValue:
    """How many times `by` (above 0) is in a value of 0 or more; exact below 2**50 times."""
    return ((value - value % by) / by).round().cast("int64")


def part(value: ir.IntegerValue, of: ir.IntegerValue, whole: ir.IntegerValue) -> ir.IntegerValue:
    """`value * of // whole`, for 0 <= of <= whole and values of 0 to 2**50."""
    near = (value.cast("float64") * of / whole).floor().cast("int64")
    # The double is off by one at the most; what is left over says which way.
    left = value.cast(_WHOLE) * of.cast(_WHOLE) - near.cast(_WHOLE) * whole.cast(_WHOLE)
    rest = left.cast("int64")
    return near + ibis.cases((rest < 0, -1), (rest >= whole, 1), else_=0)
