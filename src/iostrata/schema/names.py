"""Points, layers and what levels leave out, as people name them."""

from __future__ import annotations

from collections.abc import Iterable

from iostrata.errors import UserError
from iostrata.schema.events import KEPT, LAYER, LEVEL
from iostrata.schema.points import POINTS, Point

# Codes of layers are in the order in which they stand, but for those that came later.
_BESIDE = {"hbase": LAYER["fs"] - 0.5}


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


def layer_order(layer: str) -> float:
    """Where a layer stands, from the application down; one that is not known comes last."""
    return _BESIDE.get(layer, LAYER.get(layer, len(LAYER) + 1))


def keeps(level: str, category: str) -> bool:
    """Calls on targets of the category are recorded individually at that level."""
    return LEVEL[level] <= LEVEL[KEPT[category]]


def left_out(level: str) -> str:
    """`xml, classes, jars`: what is only in sums at a level, as text; empty for all kept.

    Without records: these are never recorded individually, and counted at one level only.
    """
    names = [name for name in KEPT if name != "record" and not keeps(level, name)]
    return ", ".join(name.replace("_", ".") for name in names)


def _names(point: Point) -> set[str]:
    cls = point.cls.replace("/", ".")
    methods = (f"{cls}#{point.method}", f"{cls.rpartition('.')[2]}#{point.method}")
    return {*methods, *(method + point.desc for method in methods)}
