"""Buckets of sizes and times: eight to each power of two, so that none is wider than an eighth.

Values below 8 have one each; 8 to 15 are buckets 8 to 15, 16 to 31 are 16 to 23, and so on: the
number is 8 times the exponent above 3, plus the three bits below the highest one (the layout of
HdrHistogram). Counts of buckets can be added up, over processes, hosts and runs: a quantile of the
sum is within an eighth of the true one. All is integer arithmetic, and the same on every engine.
"""

from __future__ import annotations

from collections.abc import Mapping

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import quotient

PARTS = 8
_BITS = 3  # log2 of PARTS
_HIGHEST = 62


def bucket(value: ir.IntegerValue) -> ir.IntegerValue:
    """Number of the bucket of a value; what is below 0 counts as 0."""
    known = ibis.greatest(value.cast("int64"), ibis.literal(0, "int64"))
    above = [(known >= 2**bit).cast("int64") for bit in range(_BITS + 1, _HIGHEST + 1)]
    exponent = sum(above[1:], start=above[0])
    # 2 to the exponent: 1 and, for each power of two that was reached, as much again
    unit = sum((each * 2**n for n, each in enumerate(above)), start=ibis.literal(1, "int64"))
    return exponent * PARTS + quotient(known, unit)


def lower(number: int) -> int:
    """The least value of a bucket."""
    exponent = max(0, number // PARTS - 1)
    return (number - exponent * PARTS) << exponent


def upper(number: int) -> int:
    """The value after the most of a bucket."""
    return lower(number + 1)


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """The middle of the bucket that holds the value `share` (0 to 1) of all are not above."""
    total = sum(counts.values())
    if total == 0:
        return None
    rank, seen = share * total, 0
    for number in sorted(counts):
        seen += counts[number]
        if seen >= rank:
            return (lower(number) + upper(number) - 1) // 2
    return None
