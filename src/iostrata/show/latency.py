"""How long single calls took: mean and quantiles per layer and operation.

Of the calls kept one by one, nested ones too; estimates with intervals where only some requests
were kept. A quantile is the time of one of the calls, at most a thousandth too short: calls whose
first eleven binary digits agree are counted together, so that memory does not grow with them.
"""

from __future__ import annotations

from iostrata.analyse import sample
from iostrata.analyse.sample import Row
from iostrata.store.opened import OpenedRun

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
# Columns of a row and how they are called.
STATISTICS = {"mean": "mean", "p50": "median", "p95": "95 %", "p99": "99 %"}
DIGITS = 11  # of a time, binary: calls that agree in them are alike
_KEYS = "layer, op"
_TIMED = "dur IS NOT NULL"


def latencies(opened: OpenedRun, sampled: bool) -> list[Row]:
    """Layer, op, calls, and of STATISTICS ns, the longest together first.

    Sampled, they come from the table `sample`: `calls` with `calls_bound`, each statistic with
    NAME_low and NAME_high, all None where too few requests were drawn.
    """
    return _estimates(opened) if sampled else opened.rows(_OF_ALL)


_BITS = f"greatest(0, floor(log2(greatest(dur, 1)))::INTEGER - {DIGITS - 1})"
_QUANTILES = ", ".join(
    f"min(dur) FILTER (until >= {at} * calls) AS {name}" for name, at in QUANTILES.items()
)
_OF_ALL = f"""
    WITH alike AS (
        SELECT {_KEYS}, count(*) AS n, sum(dur) AS time, min(dur) AS dur
        FROM calls WHERE {_TIMED} GROUP BY {_KEYS}, dur >> {_BITS} << {_BITS}),
    placed AS (
        SELECT *, sum(n) OVER (PARTITION BY {_KEYS}) AS calls,
            sum(n) OVER (PARTITION BY {_KEYS} ORDER BY dur) AS until FROM alike)
    SELECT {_KEYS}, any_value(calls)::BIGINT AS calls,
        round(sum(time) / any_value(calls))::BIGINT AS mean,
        {_QUANTILES}
    FROM placed GROUP BY {_KEYS} ORDER BY sum(time) DESC, {_KEYS}"""


def _estimates(opened: OpenedRun) -> list[Row]:
    longest = f"""
        SELECT {_KEYS} FROM sample WHERE {_TIMED}
        GROUP BY {_KEYS} ORDER BY sum(w * dur) DESC, {_KEYS}"""
    found = {(row["layer"], row["op"]): row for row in opened.rows(longest)}
    for row in sample.totals(opened, _KEYS, "1", _TIMED):
        found[row["layer"], row["op"]] |= sample.bounded("calls", row)
    estimates = {"mean": sample.means(opened, _KEYS, "dur", _TIMED)}
    for name, at in QUANTILES.items():
        estimates[name] = sample.quantiles(opened, _KEYS, "dur", at, _TIMED)
    for name, rows in estimates.items():
        for row in rows:
            ends = {"": row["value"], "_low": row["low"], "_high": row["high"]}
            found[row["layer"], row["op"]] |= {
                f"{name}{end}": None if ns is None else round(ns) for end, ns in ends.items()
            }
    return list(found.values())
