"""Calls of a run that kept a sample of its requests, scaled back, with honest intervals.

Requests are drawn independently of each other, each with the probability `inclusion`; with a
request all its calls are kept, and they are alike. So the request is the sampling unit: a variance
adds up (1 - p) / p² × e² per request, e its residual (Poisson sampling; Särndal, Swensson, Wretman:
Model Assisted Survey Sampling, 1992, chapters 3.5 and 5), never single calls.

Estimates come as `value`, `low`, `high`: 95 of 100 such intervals hold the truth. All three are
None where too few requests were drawn to say so.
"""

from __future__ import annotations

from typing import Any, Protocol

Row = dict[str, Any]

# Requests that an interval needs: with fewer those of heavy-tailed requests are too short. The rule
# must not look at what was drawn: samples without the tail are those that look regular.
# A quantile needs half of them on either side.
LEAST = 100


class Database(Protocol):
    """A run: store.opened.OpenedRun, with its views `events`, `calls` and `sums`."""

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[Row]:
        """The rows of a query."""


def is_sampled(db: Database) -> bool:
    """Not all requests of the run were kept."""
    return bool(db.rows("SELECT 1 FROM calls WHERE inclusion < 1 LIMIT 1"))


def draw(db: Database) -> None:
    """Makes the table `sample`: all calls with their weight `w` and the number of their `request`.

    `w` is one over the inclusion probability; a call that was kept in any case has no request.
    """
    db.rows(_SAMPLE)
    define(db)


def define(db: Database) -> None:
    """Makes the functions that estimates need, beside a table `sample`."""
    db.rows(_STUDENT)
    db.rows(_BOUND)


def totals(
    db: Database, keys: str, value: str, where: str = "true", table: str = "sample"
) -> list[Row]:
    """The sum of `value` (0 or more) of calls per `keys`: those, value, low, high.

    Horvitz and Thompson's estimate, of `sample` or a table with its columns `request` and `w`. The
    interval is one of its logarithm, as sums are skewed.
    """
    return db.rows(f"""
        WITH of_request AS (
            SELECT {keys}, request, any_value(w) AS w, sum({value})::DOUBLE AS e
            FROM {table} WHERE {where} GROUP BY {keys}, request),
        known AS (
            SELECT {keys}, sum(w * e) AS total,
                bound({SPREAD}) / greatest(sum(w * e), 1e-9) AS off FROM of_request
            GROUP BY {keys})
        SELECT {keys}, CASE WHEN off IS NOT NULL THEN total END AS value,
            total * exp(-off) AS low, total * exp(off) AS high
        FROM known ORDER BY ALL""")


def bounded(name: str, row: Row) -> Row:
    """An estimate as its rounded value `name` and how far the truth may be above, `NAME_bound`."""
    known = row["value"] is not None
    return {
        name: round(row["value"]) if known else None,
        f"{name}_bound": round(row["high"] - row["value"]) if known else None,
    }


def bounds(
    db: Database, requests: list[int], variances: list[float], squares: list[float]
) -> list[float | None]:
    """Half the width of the interval of each total, from what `totals` sums by request.

    None where too few requests were drawn.
    """
    define(db)
    found = db.rows(
        "SELECT bound(n, v, s) AS off FROM (SELECT unnest(?::BIGINT[]) AS n,"
        " unnest(?::DOUBLE[]) AS v, unnest(?::DOUBLE[]) AS s)",
        [requests, variances, squares],
    )
    return [row["off"] for row in found]


def means(db: Database, keys: str, value: str, where: str = "true") -> list[Row]:
    """The mean of `value` (0 or more) of a call per `keys`: those, value, low, high.

    The ratio of two totals, its interval as that of a total.
    """
    return db.rows(f"""
        WITH of_request AS (
            SELECT {keys}, request, any_value(w) AS w, count(*) AS x, sum({value})::DOUBLE AS y
            FROM sample WHERE {where} GROUP BY {keys}, request),
        off AS (
            SELECT *, sum(w * y) OVER keys / sum(w * x) OVER keys AS mean, y - mean * x AS e
            FROM of_request WINDOW keys AS (PARTITION BY {keys})),
        known AS (
            SELECT {keys}, any_value(mean) AS mean,
                bound({SPREAD}) / greatest(sum(w * y), 1e-9) AS off
            FROM off GROUP BY {keys})
        SELECT {keys}, CASE WHEN off IS NOT NULL THEN mean END AS value,
            mean * exp(-off) AS low, mean * exp(off) AS high
        FROM known ORDER BY ALL""")


def quantiles(db: Database, keys: str, value: str, at: float, where: str = "true") -> list[Row]:
    """The quantile `at` (0 to 1) of `value` per `keys`: those, value, low, high.

    The interval is Woodruff's (JASA 47, 1952): values below which a share lies that may be `at`, by
    Wilson's interval for as many independent calls as the sample is worth.
    """
    return db.rows(f"""
        WITH share AS (
            SELECT {keys}, request, w, {value} AS y,
                sum(w) OVER (keys ORDER BY {value}) / sum(w) OVER keys AS below
            FROM sample WHERE {where} WINDOW keys AS (PARTITION BY {keys})),
        point AS (
            SELECT *, min(y) FILTER (below >= {at}) OVER (PARTITION BY {keys}) AS q FROM share),
        of_request AS (
            SELECT {keys}, request, any_value(w) AS w, any_value(q) AS q, count(*) AS x,
                sum(CASE WHEN y <= q THEN 1 - {at} ELSE -{at} END)::DOUBLE AS e
            FROM point GROUP BY {keys}, request),
        worth AS (
            SELECT {keys}, any_value(q) AS q, count(request) AS requests,
                bound({SPREAD}) / student({WEIGHTY}) / sum(w * x) AS deviation,
                CASE WHEN deviation * sqrt(sum(x)) > sqrt({at} * (1 - {at}))
                    THEN {at} * (1 - {at}) / deviation ** 2
                    WHEN deviation >= 0 THEN sum(x) END AS n,
                student({WEIGHTY}) AS t
            FROM of_request GROUP BY {keys}),
        known AS (
            SELECT *, requests * {min(at, 1 - at)} >= {LEAST / 2} AS enough,
                ({at} + t * t / (2 * n)) / (1 + t * t / n) AS middle,
                t / (1 + t * t / n) * sqrt({at} * (1 - {at}) / n + t * t / (4 * n * n)) AS half
            FROM worth)
        SELECT {_of("point", keys)},
            CASE WHEN requests = 0 OR enough THEN any_value(point.q) END AS value,
            CASE WHEN requests = 0 THEN value WHEN enough
                THEN min(y) FILTER (below >= middle - half) END AS low,
            CASE WHEN requests = 0 THEN value WHEN enough
                THEN coalesce(min(y) FILTER (below >= middle + half), max(y)) END AS high
        FROM point JOIN known ON {_same("point", "known", keys)}
        GROUP BY {_of("point", keys)}, requests, enough ORDER BY ALL""")


def _names(keys: str) -> list[str]:
    return [name.strip() for name in keys.split(",")]


def _of(table: str, keys: str) -> str:
    return ", ".join(f"{table}.{name}" for name in _names(keys))


def _same(one: str, other: str, keys: str) -> str:
    return " AND ".join(f"{one}.{k} IS NOT DISTINCT FROM {other}.{k}" for k in _names(keys))


# Of residuals `e` of requests: how many were drawn, the variance of their total, the sum of the
# squares of its terms.
_TERM = "w * (w - 1) * e * e"
VARIANCE = f"coalesce(sum({_TERM}), 0)"
SQUARES = f"coalesce(sum(({_TERM}) ** 2), 0)"
SPREAD = f"count(request), {VARIANCE}, {SQUARES}"
# From how many requests the variance comes, as if they were alike.
WEIGHTY = f"sum({_TERM}) ** 2 / sum(({_TERM}) ** 2)"

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
# Quantile of Student's t for 95 of 100 (Abramowitz, Stegun: 26.7.5), for requests as many as the
# variance comes from; those that are not alike are worth fewer.
_Z = 1.959963984540054
_STUDENT = f"""
    CREATE OR REPLACE TEMP MACRO student(weighty) AS
        {_Z} + {(_Z**3 + _Z) / 4} / greatest(weighty - 1, 1)
        + {(5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96} / greatest(weighty - 1, 1) ** 2
        + {(3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384} / greatest(weighty - 1, 1) ** 3"""
# Half the width of an interval, from SPREAD.
_BOUND = f"""
    CREATE OR REPLACE TEMP MACRO bound(requests, variance, squares) AS CASE
        WHEN requests = 0 THEN 0
        WHEN requests < {LEAST} THEN NULL
        WHEN variance = 0 THEN 0
        ELSE student(variance ** 2 / squares) * sqrt(variance * requests / (requests - 1)) END"""
