"""Whether two groups of measured values differ by more than they scatter.

Welch's t test on logarithms gives the ratio of two means with its interval, so that a change is a
share of what was there and large values do not outweigh small ones. Where a value is 0 the test is
on the values themselves, and the interval is one of the difference. The test asks for two values a
side at least, and for no equal spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

from iostrata.analyse.intervals import LEVEL, t_quantile, t_tails
from iostrata.records import Record, Share


class GroupChange(Record, frozen=True):
    """From the mean of the first group to that of the second: geometric means where no value is 0.

    `share` is by how much of the first mean the second is more (-0.2: a fifth less), None where the
    first is 0. The interval is `low` to `high`, of the share, or `least` to `most`, of the
    difference (in the unit of the values) where a value is 0; None where a side has a single value.
    `p`: how often groups that do not differ would seem to by as much; None where nobody can tell.
    """

    first: float
    second: float
    share: Share | None = None
    low: Share | None = None
    high: Share | None = None
    least: float | None = None
    most: float | None = None
    p: Share | None = None


def change(first: Sequence[float], second: Sequence[float]) -> GroupChange:
    """Compares two groups of at least one value, none of them negative."""
    before, after = fmean(first), fmean(second)
    share = after / before - 1 if before else None
    if len(first) < 2 or len(second) < 2:
        return GroupChange(before, after, share)
    if len(set(first)) == len(set(second)) == 1:  # no spread: what differs has changed
        return GroupChange(before, after, share, share, share, p=float(before == after))
    if min(*first, *second) <= 0:
        middle, half, p = _welch(first, second)
        return GroupChange(before, after, share, least=middle - half, most=middle + half, p=p)
    logs = [[math.log(value) for value in side] for side in (first, second)]
    before, after = (math.exp(fmean(side)) for side in logs)
    middle, half, p = _welch(*logs)
    share, low, high = (math.expm1(middle + sign * half) for sign in (0, -1, 1))
    return GroupChange(before, after, share, low, high, p=p)


def changed(p_values: Sequence[float]) -> list[bool]:
    """Which of several comparisons changed, where at most LEVEL of those said to have did not.

    Benjamini and Hochberg 1995: of a hundred rows that did not change, five have a p below 0.05.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    last = 0
    for rank, place in enumerate(order, start=1):
        if p_values[place] <= LEVEL * rank / len(order):
            last = rank
    rejected = set(order[:last])
    return [place in rejected for place in range(len(p_values))]


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Difference of the means, half of its interval, and p."""
    parts = [variance(side) / len(side) for side in (first, second)]
    error = math.sqrt(sum(parts))
    difference = fmean(second) - fmean(first)
    if error == 0:  # of logarithms, by rounding
        return difference, 0.0, float(difference == 0)
    squares = (part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True))
    freedom = sum(parts) ** 2 / sum(squares)
    return difference, t_quantile(freedom) * error, t_tails(difference / error, freedom)
