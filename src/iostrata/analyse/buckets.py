"""Buckets of sizes and times: 32 to each power of two, so that none is wider than a 32nd.

Values below 64 have one each; 64 to 127 are buckets 64 to 95, 128 to 255 are 96 to 127, and so on:
the number is 32 times the exponent above 5, plus the value without its bits below the sixth (the
layout of HdrHistogram). Counts of buckets can be added up, over processes, hosts and runs: a
quantile of the sum is at most 3 % off. All is integer arithmetic, and the same on every engine;
`rust/native/src/histogram.rs` has the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import quotient

PARTS = 32
_BITS = 5  # log2 of PARTS
_HIGHEST = 62


def bucket(value: ir.IntegerValue) -> ir.IntegerValue:
    """Number of the bucket of a value; what is below 0 counts as 0."""
    known = ibis.greatest(value.cast("int64"), ibis.literal(0, "int64"))

    def among(least: int, most: int) -> ir.IntegerValue:
        """Where the exponent is one of these: halved until it is known, so each row asks little."""
        if least == most:
            return quotient(known, 2**least) + least * PARTS
        middle = (least + most + 1) // 2
        above = known >= 2 ** (middle + _BITS)
        return ibis.ifelse(above, among(middle, most), among(least, middle - 1))

    return among(0, _HIGHEST - _BITS)


def lower(number: int) -> int:
    """The least value of a bucket."""
    exponent = max(0, number // PARTS - 1)
    return (number - exponent * PARTS) << exponent


def upper(number: int) -> int:
    """The value after the most of a bucket."""
    return lower(number + 1)


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """The middle of the bucket that `holding` names."""
    number = holding(counts, share)
    return None if number is None else (lower(number) + upper(number) - 1) // 2


def holding(counts: Mapping[int, int], share: float) -> int | None:
    """The bucket that holds the value which `share` (0 to 1) of all values are not above."""
    rank, below = share * sum(counts.values()), 0
    for number in sorted(counts):
        below += counts[number]
        if below >= rank:
            return number
    return None
