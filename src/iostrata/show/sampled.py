"""What summaries show of calls kept one by one, scaled back where only some requests were kept.

A target's share of its layer and category is estimated; what the share is of is known exactly, from
sums (ratio estimate). Where the calls kept do not agree with the sums, because some points or times
were in sums only, shares of them would be of something else: then the calls are just scaled up.

Each number has the half-width of its interval beside it, as `NAME_bound`; both are None where too
few requests are in the sample.
"""

from __future__ import annotations

from iostrata.analyse import sample
from iostrata.analyse.sample import Row
from iostrata.schema.directions import DIRECTIONS
from iostrata.schema.points import POINTS
from iostrata.show.totals import BOUND, OUTER, moves, summed
from iostrata.store.opened import OpenedRun

# How far sums may lie from the calls scaled up, in deviations.
_AGREE = 4
# Of calls that are in sums only, whatever is asked for.
_HOT = ", ".join(str(point.id) for point in POINTS if point.mode in ("counted", "record"))
_KEPT = f"point NOT IN ({_HOT})"
_CELL = "layer, category"
_TARGET = "layer, category, target, block"
_NAMED = "target IS NOT NULL AND target <> ''"
_MEASURES = {
    "calls": f"CASE WHEN {OUTER} THEN 1 ELSE 0 END",
    "time": f"CASE WHEN {OUTER} THEN dur ELSE 0 END",
    **{f"bytes_{way}": f"CASE WHEN {moves(way)} THEN bytes ELSE 0 END" for way in DIRECTIONS},
}


def hottest(opened: OpenedRun, most: int) -> list[Row]:
    """As show.totals.hottest, of a table `sample`, numbers with bounds; unknown ones last."""
    opened.rows(
        f"""
        CREATE OR REPLACE TEMP TABLE hot AS
        SELECT row_number() OVER (ORDER BY time DESC, target, block) AS place, *
        FROM (SELECT {_TARGET}, sum(w * {_MEASURES["time"]}) AS time FROM sample
            WHERE {_NAMED} GROUP BY {_TARGET})
        ORDER BY time DESC, target, block LIMIT {int(most)}"""
    )
    opened.rows(f"CREATE OR REPLACE TEMP TABLE known AS {summed(_CELL, where=_KEPT)}")
    found: dict[int, Row] = {
        row.pop("place"): {**row, "estimated": True}
        for row in opened.rows(f"SELECT place, {_TARGET} FROM hot ORDER BY place")
    }
    for name, value in _MEASURES.items():
        for row in opened.rows(_share(name, value)):
            found[row["place"]] |= {name: row["value"], f"{name}_bound": row["bound"]}
    return sorted(found.values(), key=lambda row: row["time"] is None)


def orphans(opened: OpenedRun, where: str) -> list[Row]:
    """Layer, calls and bytes of calls that `where` is true of, each with its bound."""
    found: dict[str, Row] = {}
    for name, value in (("calls", "1"), ("bytes", "coalesce(bytes, 0)")):
        for row in sample.totals(opened, "layer", value, where):
            of = found.setdefault(row["layer"], {"layer": row["layer"], "estimated": True})
            of |= sample.bounded(name, row)
    return list(found.values())


def _share(name: str, value: str) -> str:
    """Place in `hot`, value and bound of a measure; `certain`: of calls kept in any case."""
    exact = f'known."{name}"'
    inexact = f"(known.time_bound / {BOUND}) ** 2" if name == "time" else "0"
    return f"""
        WITH cell AS (
            SELECT {_CELL}, request, any_value(w) AS w, sum({value})::DOUBLE AS y
            FROM sample GROUP BY {_CELL}, request),
        cells AS (
            SELECT cell.layer, cell.category, sum(w * y) FILTER (request IS NOT NULL) AS drawn,
                any_value({exact}) - coalesce(sum(y) FILTER (request IS NULL), 0) AS rest,
                coalesce(any_value({inexact}), 0) AS inexact,
                drawn > 0 AND abs(rest - drawn) <=
                    {_AGREE} * sqrt(sum(w * (w - 1) * y * y) + inexact) AS agree
            FROM cell LEFT JOIN known ON known.layer = cell.layer
                AND known.category IS NOT DISTINCT FROM cell.category
            GROUP BY cell.layer, cell.category),
        mine AS (
            SELECT place, request, any_value(w) AS w, sum({value})::DOUBLE AS y
            FROM sample JOIN hot ON sample.target = hot.target AND sample.layer = hot.layer
                AND sample.category IS NOT DISTINCT FROM hot.category
                AND sample.block IS NOT DISTINCT FROM hot.block
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
            WHERE cell.request IS NOT NULL OR requests = 0),
        bounded AS (
            SELECT place, any_value(certain + g * total) AS value,
                bound(any_value(requests), {sample.VARIANCE}
                    + any_value(share ** 2 * inexact), {sample.SQUARES}) AS off
            FROM off GROUP BY place)
        SELECT place, CASE WHEN off IS NOT NULL THEN round(value)::BIGINT END AS value,
            CASE WHEN value > 0 THEN round(value * (exp(off / value) - 1)) WHEN off IS NOT NULL
                THEN 0 END::BIGINT AS bound
        FROM bounded"""
