"""Calls of a run that kept a sample of its requests, scaled back, with honest intervals.

Requests are drawn independently of each other, each with the probability `inclusion`; with a
request all its calls are kept, and they are alike. So the request is the sampling unit: a variance
adds up (1 - p) / p² × e² per request, e its residual (Poisson sampling; Särndal, Swensson, Wretman:
Model Assisted Survey Sampling, 1992, chapters 3.5 and 5), never single calls.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import ibis

from iostrata.analyse.intervals import LEAST, Spread, half_widths, share_bounds
from iostrata.analyse.tables import CALLS
from iostrata.records import Record

Key = tuple[Any, ...]


class _Database(Protocol):
    """A run: store.opened.OpenedRun, with its views `events`, `calls` and `sums`."""

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query."""


class Estimate(Record, frozen=True):
    """A number with the ends of its interval: 95 of 100 such intervals hold the truth.

    All three are None where too few requests were drawn to say so.
    """

    value: float | None
    low: float | None
    high: float | None

    def rounded(self) -> tuple[int | None, int | None]:
        """The value, and how far the truth may be above it."""
        if self.value is None or self.high is None:
            return None, None
        return round(self.value), round(self.high - self.value)


UNKNOWN = Estimate(None, None, None)
# The table that `draw` makes, as expressions see it.
SAMPLE = ibis.table({**CALLS.schema(), "w": "float64", "request": "int64"}, name="sample")


def is_sampled(db: _Database) -> bool:
    """Not all requests of the run were kept."""
    return bool(db.rows("SELECT 1 FROM calls WHERE inclusion < 1 LIMIT 1"))


def is_drawn(db: _Database) -> bool:
    """The table `sample` is there."""
    return bool(db.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'sample'"))


def draw(db: _Database) -> None:
    """Makes the table `sample`: all calls with their weight `w` and the number of their `request`.

    `w` is one over the inclusion probability; a call that was kept in any case has no request.
    """
    db.rows(_SAMPLE)


def totals(
    db: _Database, keys: str, value: str, where: str = "true", table: str = "sample"
) -> dict[Key, Estimate]:
    """The sum of `value` (0 or more) of calls per `keys`.

    Horvitz and Thompson's estimate, of `sample` or a table with its columns `request` and `w`. The
    interval is one of its logarithm, as sums are skewed.
    """
    rows = db.rows(f"""
        WITH of_request AS (
            SELECT {keys}, request, any_value(w) AS w, sum({value})::DOUBLE AS e
            FROM {table} WHERE {where} GROUP BY {keys}, request)
        SELECT {keys}, sum(w * e) AS value, sum(w * e) AS total, {SPREAD}
        FROM of_request GROUP BY {keys} ORDER BY ALL""")
    return _estimates(rows, keys)


def means(
    db: _Database, keys: str, value: str, where: str = "true", table: str = "sample"
) -> dict[Key, Estimate]:
    """The mean of `value` (0 or more) of a call per `keys`.

    The ratio of two totals, its interval as that of a total.
    """
    rows = db.rows(f"""
        WITH of_request AS (
            SELECT {keys}, request, any_value(w) AS w, count(*) AS x, sum({value})::DOUBLE AS y
            FROM {table} WHERE {where} GROUP BY {keys}, request),
        off AS (
            SELECT *, sum(w * y) OVER keys / sum(w * x) OVER keys AS mean, y - mean * x AS e
            FROM of_request WINDOW keys AS (PARTITION BY {keys}))
        SELECT {keys}, any_value(mean) AS value, sum(w * y) AS total, {SPREAD}
        FROM off GROUP BY {keys} ORDER BY ALL""")
    return _estimates(rows, keys)


def quantiles(
    db: _Database, keys: str, value: str, at: float, where: str = "true", table: str = "sample"
) -> dict[Key, Estimate]:
    """The quantile `at` (0 to 1) of `value` per `keys`.

    The interval is Woodruff's (JASA 47, 1952): values below which a share lies that may be `at`, by
    Wilson's interval for as many independent calls as the sample is worth.
    """
    db.rows(f"""
        CREATE OR REPLACE TEMP TABLE placed AS
        SELECT {keys}, dense_rank() OVER (ORDER BY {keys}) AS place, request, w, {value} AS y,
            sum(w) OVER (keys ORDER BY {value}) / sum(w) OVER keys AS below
        FROM {table} WHERE {where} WINDOW keys AS (PARTITION BY {keys})""")
    found: dict[int, tuple[Key, Estimate]] = {}
    shares: dict[int, tuple[float, float]] = {}
    for row in db.rows(_QUANTILES.format(keys=keys, at=at)):
        key, q = tuple(row[name] for name in _names(keys)), row["q"]
        spread = Spread(row["requests"], row["variance"], row["squares"])
        if spread.requests == 0:
            found[row["place"]] = key, Estimate(q, q, q)
        elif spread.requests * min(at, 1 - at) < LEAST / 2:
            found[row["place"]] = key, UNKNOWN
        else:
            found[row["place"]] = key, Estimate(q, q, q)
            worth = _worth(at, spread, row["weight"], row["calls"])
            shares[row["place"]] = share_bounds(at, worth, spread.freedom)
    ends = [list(each) for each in zip(*shares.values(), strict=True)] or [[], []]
    for row in db.rows(_ENDS, [list(shares), *ends]):
        key, estimate = found[row["place"]]
        found[row["place"]] = key, Estimate(estimate.value, row["low"], row["high"])
    return dict(found.values())


def _worth(at: float, spread: Spread, weight: float, calls: int) -> float:
    """As how many independent calls a sample says where a share of them lies."""
    deviation = spread.deviation / weight
    if deviation * math.sqrt(calls) > math.sqrt(at * (1 - at)):
        return at * (1 - at) / deviation**2
    return float(calls)


def _estimates(rows: list[dict[str, Any]], keys: str) -> dict[Key, Estimate]:
    """Of rows with `keys`, `value`, the `total` that the spread is of, and SPREAD."""
    offs = half_widths([Spread(row["requests"], row["variance"], row["squares"]) for row in rows])
    found = {}
    for row, off in zip(rows, offs, strict=True):
        estimate, value = UNKNOWN, row["value"]
        if off is not None:
            factor = math.exp(min(off / max(row["total"], 1e-9), 700))
            estimate = Estimate(value, value / factor, value * factor)
        found[tuple(row[name] for name in _names(keys))] = estimate
    return found


def _names(keys: str) -> list[str]:
    return [name.strip() for name in keys.split(",")]


# Of residuals `e` of requests: how many were drawn, the variance of their total, the sum of the
# squares of its terms.
_TERM = "w * (w - 1) * e * e"
VARIANCE = f"coalesce(sum({_TERM}), 0)::DOUBLE AS variance"
SQUARES = f"coalesce(sum(({_TERM}) ** 2), 0)::DOUBLE AS squares"
SPREAD = f"count(request) AS requests, {VARIANCE}, {SQUARES}"
_QUANTILES = f"""
    WITH point AS (
        SELECT *, min(y) FILTER (below >= {{at}}) OVER (PARTITION BY place) AS q FROM placed),
    of_request AS (
        SELECT {{keys}}, place, request, any_value(w) AS w, any_value(q) AS q, count(*) AS x,
            sum(CASE WHEN y <= q THEN 1 - {{at}} ELSE -{{at}} END)::DOUBLE AS e
        FROM point GROUP BY {{keys}}, place, request)
    SELECT {{keys}}, place, any_value(q) AS q, sum(w * x) AS weight, sum(x)::BIGINT AS calls,
        {SPREAD}
    FROM of_request GROUP BY {{keys}}, place ORDER BY place"""
_ENDS = """
    SELECT place, min(y) FILTER (below >= "from") AS low,
        coalesce(min(y) FILTER (below >= until), max(y)) AS high
    FROM placed JOIN (
        SELECT unnest(?::BIGINT[]) AS place, unnest(?::DOUBLE[]) AS "from",
            unnest(?::DOUBLE[]) AS until) USING (place)
    GROUP BY place"""

# The first request of a way up: below a task each call begins one. What hangs from a call that is
# not there (lost with a full ring, open when its process died) belongs to the request of that.
_SAMPLE = """
    CREATE TEMP TABLE IF NOT EXISTS sample AS
    WITH RECURSIVE node AS (
        SELECT proc, span, coalesce(parent_proc, proc) AS up_proc, parent AS up FROM events
        WHERE kind IN ('call', 'unfinished') AND inclusion < 1),
    above AS (
        SELECT DISTINCT proc, span, layer = 'task' AS is_task FROM events
        WHERE kind IN ('call', 'begin', 'unfinished') AND (layer = 'task' OR inclusion < 1)),
    tree(proc, span, top_proc, top) AS (
        SELECT node.proc, node.span,
            CASE WHEN up IS NULL OR is_task THEN node.proc ELSE up_proc END,
            CASE WHEN up IS NULL OR is_task THEN node.span ELSE up END
        FROM node LEFT JOIN above ON above.proc = up_proc AND above.span = up
        WHERE is_task IS NOT FALSE
        UNION ALL
        SELECT node.proc, node.span, top_proc, top
        FROM tree JOIN node ON up_proc = tree.proc AND up = tree.span)
    SELECT calls.*, 1 / coalesce(inclusion, 1) AS w,
        CASE WHEN inclusion < 1 THEN dense_rank() OVER (ORDER BY top_proc, top) END AS request
    FROM calls LEFT JOIN tree ON tree.proc = calls.proc AND tree.span = calls.span"""
