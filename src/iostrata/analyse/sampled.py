"""Numbers of targets and orphans scaled back, where only some requests were kept.

A target's share of its layer and category is estimated; what the share is of is known exactly, from
sums (ratio estimate). Where the calls kept do not agree with the sums, because some points or times
were in sums only, shares of them would be of something else: then the calls are just scaled up.
"""

from __future__ import annotations

import math

from ibis.expr import types as ir

from iostrata.analyse.account import DEVIATIONS
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.intervals import Spread, half_widths
from iostrata.analyse.orphans import Orphans, orphaned
from iostrata.analyse.sample import SAMPLE, SQUARES, VARIANCE, totals
from iostrata.analyse.tables import SUMS, counted_once, direction, outer
from iostrata.analyse.targets import Target
from iostrata.analyse.totals import totals as totals_of_sums
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun

# How far sums may lie from the calls scaled up, in deviations.
_AGREE = 4
# Of calls that are in sums only, whatever is asked for.
_COUNTED_ONLY = [point.id for point in POINTS if point.mode in ("counted", "record")]
_CELL = "layer, category"
_TARGET = "layer, category, target, block"
MEASURES = ("calls", "time", *BYTES_COLUMN.values())


def hottest(opened: OpenedRun, most: int) -> list[Target]:
    """As `targets`, of a table `sample`, numbers with bounds; unknown ones last."""
    _view(opened, "measured", _measured(SAMPLE))
    opened.rows(
        f"""
        CREATE OR REPLACE TEMP TABLE hot AS
        SELECT row_number() OVER (ORDER BY time DESC, target, block) AS place, *
        FROM (SELECT {_TARGET}, sum(w * time) AS time FROM measured
            WHERE target <> '' GROUP BY {_TARGET})
        ORDER BY time DESC, target, block LIMIT {int(most)}"""
    )
    known = totals_of_sums(SUMS.filter(~SUMS.point.isin(_COUNTED_ONLY)), "layer", "category")
    opened.rows(f"CREATE OR REPLACE TEMP TABLE known AS {DuckDb(opened).sql(known)}")
    named = {
        row.pop("place"): row
        for row in opened.rows(f"SELECT place, {_TARGET} FROM hot ORDER BY place")
    }
    for measure in MEASURES:
        for place, value, bound in _shares(opened, measure):
            named[place] |= {measure: value, f"{measure}_bound": bound}
    found = [Target(**row, estimated=True) for row in named.values()]
    return sorted(found, key=lambda target: target.time is None)


def orphans(opened: OpenedRun) -> list[Orphans]:
    """As `orphans.orphans`, of a table `sample`, numbers with bounds."""
    _view(opened, "orphaned", orphaned(SAMPLE).select("layer", "bytes", "request", "w"))
    calls = totals(opened, "layer", "1", table="orphaned")
    sizes = totals(opened, "layer", "coalesce(bytes, 0)", table="orphaned")
    found = []
    for (layer,), estimate in calls.items():
        number, off = estimate.rounded()
        size, size_off = sizes[layer,].rounded()
        found.append(Orphans(layer, number, size, True, off, size_off))
    return found


def _view(opened: OpenedRun, name: str, expression: ir.Table) -> None:
    opened.rows(f"CREATE OR REPLACE TEMP VIEW {name} AS {DuckDb(opened).sql(expression)}")


def _measured(calls: ir.Table) -> ir.Table:
    """Calls with what each adds to the MEASURES of its target."""
    own, moved = outer(calls).cast("int64"), counted_once(calls).cast("int64")
    added = {
        column: (direction(calls) == name).fill_null(False).cast("int64") * moved * calls.bytes
        for name, column in BYTES_COLUMN.items()
    }
    keys = ("layer", "category", "target", "block", "request", "w")
    return calls.select(*keys, calls=own, time=own * calls.dur, **added)


def _shares(opened: OpenedRun, measure: str) -> list[tuple[int, int | None, int | None]]:
    """Place in `hot`, value and bound of a measure."""
    rows = opened.rows(_share(measure))
    spreads = [
        Spread(row["requests"], row["variance"] + row["inexact"], row["squares"]) for row in rows
    ]
    found: list[tuple[int, int | None, int | None]] = []
    for row, off in zip(rows, half_widths(spreads), strict=True):
        value = row["value"]
        if off is None:
            found.append((row["place"], None, None))
        else:
            bound = value * math.expm1(off / value) if value > 0 else 0
            found.append((row["place"], round(value), round(bound)))
    return found


def _share(measure: str) -> str:
    """Place in `hot`, value and spread of a measure; `certain`: of calls kept in any case."""
    inexact = f"(known.time_bound / {DEVIATIONS}) ** 2" if measure == "time" else "0"
    return f"""
        WITH cell AS (
            SELECT {_CELL}, request, any_value(w) AS w, sum({measure})::DOUBLE AS y
            FROM measured GROUP BY {_CELL}, request),
        cells AS (
            SELECT cell.layer, cell.category, sum(w * y) FILTER (request IS NOT NULL) AS drawn,
                any_value(known.{measure}) - coalesce(sum(y) FILTER (request IS NULL), 0) AS rest,
                coalesce(any_value({inexact}), 0) AS inexact,
                drawn > 0 AND abs(rest - drawn) <=
                    {_AGREE} * sqrt(sum(w * (w - 1) * y * y) + inexact) AS agree
            FROM cell LEFT JOIN known ON known.layer = cell.layer
                AND known.category IS NOT DISTINCT FROM cell.category
            GROUP BY cell.layer, cell.category),
        mine AS (
            SELECT place, request, any_value(w) AS w, sum(measured.{measure})::DOUBLE AS y
            FROM measured JOIN hot ON measured.target = hot.target AND measured.layer = hot.layer
                AND measured.category IS NOT DISTINCT FROM hot.category
                AND measured.block IS NOT DISTINCT FROM hot.block
            GROUP BY place, request),
        own AS (
            SELECT hot.place, hot.layer, hot.category, count(request) AS requests,
                coalesce(sum(y) FILTER (request IS NULL), 0) AS certain,
                coalesce(sum(mine.w * y) FILTER (request IS NOT NULL), 0) AS total
            FROM hot JOIN mine ON mine.place = hot.place GROUP BY ALL),
        scaled AS (
            SELECT own.*, inexact, CASE WHEN agree THEN rest / drawn ELSE 1 END AS g,
                CASE WHEN agree THEN total / drawn ELSE 0 END AS share
            FROM own JOIN cells ON cells.layer = own.layer
                AND cells.category IS NOT DISTINCT FROM own.category),
        off AS (
            SELECT scaled.*, cell.request, cell.w,
                g * (coalesce(mine.y, 0) - share * cell.y) AS e
            FROM scaled
            JOIN cell ON cell.layer = scaled.layer
                AND cell.category IS NOT DISTINCT FROM scaled.category
            LEFT JOIN mine ON mine.place = scaled.place AND mine.request = cell.request
            WHERE cell.request IS NOT NULL OR requests = 0)
        SELECT place, any_value(certain + g * total) AS value,
            any_value(requests) AS requests,
            any_value(share ** 2 * inexact) AS inexact, {VARIANCE}, {SQUARES}
        FROM off GROUP BY place"""
