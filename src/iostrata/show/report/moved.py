"""Bytes in bins of the time axis, as lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from iostrata.analyse.axis import Axis

_Key = TypeVar("_Key")


def moved_by(bins: Iterable[tuple[_Key, int, int]], axis: Axis) -> dict[_Key, list[int]]:
    """Of key, bin and bytes: per key the bytes of each bin of the axis, up to its last one. What is
    beyond the axis belongs to its end.
    """
    found: dict[_Key, list[int]] = {}
    for key, place, moved in bins:
        values = found.setdefault(key, [])
        place = min(place, axis.bins - 1)
        values += [0] * (place + 1 - len(values))
        values[place] += moved
    return found
