"""SizeCount of requests, of which Darshan keeps ten classes, as size classes of iostrata.

Darshan says how many requests each class has and what all had together. What one class had is
estimated: its most common sizes where the log names them, else the geometric middle, moved as far
towards the bounds as makes all add up to what is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_KIB, _MIB = 1 << 10, 1 << 20
# Most bytes of a class, which belong to it.
UPPER = (100, _KIB, 10 * _KIB, 100 * _KIB, _MIB, 4 * _MIB, 10 * _MIB, 100 * _MIB, 1 << 30)
NAMES = ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"]
NAMES += ["1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"]


@dataclass(frozen=True)
class SizeCount:
    """So many requests with so many bytes; `size_class` as in the store, None: not known."""

    count: int
    bytes: int
    size_class: int | None


def split(counts: list[int], count: int, size: int, common: dict[int, int]) -> list[SizeCount]:
    """`count` requests of `size` bytes by class; exact in sum.

    `counts` are those of the ten classes; `common` sizes, and how often each comes. Where classes
    and totals do not fit together, nothing is known of sizes.
    """
    if count == 0:
        return []
    if size == 0:
        return [SizeCount(count, 0, 0)]
    used = [i for i, number in enumerate(counts) if number > 0]
    least = sum(counts[i] * _least(i) for i in used)
    most = sum(counts[i] * _most(i, size) for i in used)
    if sum(counts[i] for i in used) != count or not least <= size <= most:
        return [SizeCount(count, size, None)]
    guessed = {i: counts[i] * _middle(i, size, common) for i in used}
    missing = size - sum(guessed.values())
    limit = {i: counts[i] * (_most(i, size) if missing > 0 else _least(i)) for i in used}
    room = sum(abs(limit[i] - guessed[i]) for i in used)
    share = abs(missing) / room if room else 0.0
    sizes = {i: int(guessed[i] + (limit[i] - guessed[i]) * share) for i in used}
    sizes[used[-1]] += size - sum(sizes.values())
    return [SizeCount(counts[i], sizes[i], (sizes[i] // counts[i]).bit_length()) for i in used]


def _least(position: int) -> int:
    return UPPER[position - 1] + 1 if position else 0


def _most(position: int, size: int) -> int:
    return UPPER[position] if position < len(UPPER) else size


def _middle(position: int, size: int, common: dict[int, int]) -> int:
    low, high = _least(position), _most(position, size)
    named = {value: times for value, times in common.items() if low <= value <= high}
    if sum(named.values()):
        return sum(value * times for value, times in named.items()) // sum(named.values())
    return min(high, max(low, math.isqrt(max(1, low) * high)))
