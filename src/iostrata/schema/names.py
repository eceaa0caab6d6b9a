"""Points, levels and shares of requests as people name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from iostrata.errors import UserError
from iostrata.schema.events import ALL_REQUESTS, KEPT, LAYER, LEVEL
from iostrata.schema.points import POINTS, Point

_SHARE = re.compile(r"[0-9./]{1,24}%?")


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


def layer_order(layer: str) -> int:
    """Where a layer stands, from the application down; one that is not known comes last."""
    return LAYER.get(layer, len(LAYER) + 1)


def check_level(name: str) -> str:
    """The name of a level; raises UserError for another."""
    if name not in LEVEL:
        raise UserError(f"no level is called {name!r}", f"one of {', '.join(LEVEL)}")
    return name


def check_sampling(text: str) -> int:
    """`1/100`, `1%` or `0.01` as requests of ALL_REQUESTS, above 0; raises UserError."""
    remedy = "say 1/100, 1% or 0.01; 1/1 keeps all"
    try:
        if not _SHARE.fullmatch(text):
            raise ValueError
        share = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UserError(f"{text!r} is no share of the requests", remedy) from error
    if not 0 < share <= 1:
        raise UserError(f"--sampling {text} is not above 0 and at most 1", remedy)
    if share * ALL_REQUESTS < 1:
        raise UserError(f"--sampling {text} is less than one of {ALL_REQUESTS:,}", remedy)
    return round(share * ALL_REQUESTS)


def sampling_text(requests: int) -> str:
    """`1/100`, or a percentage where it is no such fraction; of ALL_REQUESTS, 0: all."""
    if requests in (0, ALL_REQUESTS):
        return "1/1"
    one_of = round(ALL_REQUESTS / requests)
    if round(ALL_REQUESTS / one_of) == requests:
        return f"1/{one_of}"
    return f"{100 * requests / ALL_REQUESTS:.9g}%"


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
