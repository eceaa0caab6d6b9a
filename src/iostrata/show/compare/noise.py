"""Whether two groups of measured values differ by more than they scatter.

Welch's t test on logarithms gives the ratio of two means with its interval, so that a change is a
share of what was there and large values do not outweigh small ones; on the values themselves where
one is 0. It asks for two values a side at least, and for no equal spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

LEVEL = 0.05  # of false alarms; intervals hold the true change in all other cases


@dataclass(frozen=True)
class Change:
    """From the mean of the first group to that of the second: geometric means where no value is 0.

    `share` is by how much of the first mean the second is more (-0.2: a fifth less), with the ends
    of its interval; None where there is none: the first is 0, or a side has a single value. `p`:
    how often groups that do not differ would seem to by as much; None where nobody can tell.
    """

    first: float
    second: float
    share: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def change(first: Sequence[float], second: Sequence[float]) -> Change:
    """Compares two groups of at least one value, none of them negative."""
    before, after = fmean(first), fmean(second)
    plain = Change(before, after, after / before - 1 if before else None)
    if len(first) < 2 or len(second) < 2:
        return plain
    if len(set(first)) == len(set(second)) == 1:  # no spread: what differs has changed
        share = plain.share
        return Change(before, after, share, share, share, p=float(before == after))
    if min(*first, *second) > 0:
        logs = [[math.log(value) for value in side] for side in (first, second)]
        before, after = (math.exp(fmean(side)) for side in logs)
        middle, half, p = _welch(logs[0], logs[1])
        ends = [math.expm1(middle + sign * half) for sign in (0, -1, 1)]
    elif before:
        middle, half, p = _welch(first, second)
        ends = [(middle + sign * half) / before for sign in (0, -1, 1)]
    else:
        return Change(before, after, p=_welch(first, second)[2])
    return Change(before, after, ends[0], ends[1], ends[2], p)


def changed(p_values: Sequence[float]) -> list[bool]:
    """Which of several comparisons changed, where at most LEVEL of those said to have did not.

    Benjamini and Hochberg 1995: of a hundred rows that did not change, five have a p below 0.05.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    last = 0
    for rank, place in enumerate(order, start=1):
        if p_values[place] <= LEVEL * rank / len(order):
            last = rank
    found = set(order[:last])
    return [place in found for place in range(len(p_values))]


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Difference of the means, half of its interval, and p."""
    parts = [variance(side) / len(side) for side in (first, second)]
    error = math.sqrt(sum(parts))
    difference = fmean(second) - fmean(first)
    if error == 0:  # of logarithms, by rounding
        return difference, 0.0, float(difference == 0)
    squares = (part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True))
    freedom = sum(parts) ** 2 / sum(squares)
    half = t_quantile(freedom) * error
    return difference, half, t_tails(difference / error, freedom)


def t_tails(t: float, freedom: float) -> float:
    """Probability that Student's t is at least as far from 0."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """The t whose tails, both together, hold `level`."""
    low, high = 0.0, 2.0
    while t_tails(high, freedom) > level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_tails(middle, freedom) > level else (low, middle)
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized one, by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    if x > (a + 1) / (a + b + 2):  # there the fraction of the complement converges fast
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front += a * math.log(x) + b * math.log1p(-x)
    # evaluated from the front, by Lentz's method
    value, upper, lower = 1.0, 1.0, 0.0
    for place in range(400):
        m = place // 2
        if place == 0:
            term = 1.0
        elif place % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (_off_zero(1 + term * lower))
        upper = _off_zero(1 + term / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-14:
            break
    return math.exp(front) * (value - 1) / a


def _off_zero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
