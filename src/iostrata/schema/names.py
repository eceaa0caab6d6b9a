"""Points as people name them."""

from __future__ import annotations

from collections.abc import Iterable

from iostrata.errors import UserError
from iostrata.schema.points import POINTS, Point


def points_named(names: Iterable[str]) -> list[int]:
    """Ids of the points each name means; raises UserError when one means none.

    `Class#method` with the class with or without its package, and with or without the
    descriptor that tells overloads apart: `FileInputStream#read`, `DFSInputStream#read([BII)I`.
    """
    found: set[int] = set()
    for name in names:
        meant = {point.id for point in POINTS if name in _names(point)}
        if not meant:
            raise UserError(f"no point is called {name!r}", "iostrata points lists them")
        found |= meant
    return sorted(found)


def _names(point: Point) -> set[str]:
    cls = point.cls.replace("/", ".")
    methods = (f"{cls}#{point.method}", f"{cls.rpartition('.')[2]}#{point.method}")
    return {*methods, *(method + point.desc for method in methods)}
