"""How long calls took: mean and quantiles per layer and operation.

Of the calls that were recorded individually, each once: one that lies within another call of the
same layer and operation is a part of that. A quantile is the mean of the calls in its bucket of
`buckets`: none is above the longest call.
"""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse import sample
from iostrata.analyse.buckets import bucket, holding
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.tables import CALLS, counted_once
from iostrata.records import Count, Ns, Record, records
from iostrata.store.opened import OpenedRun

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Latency(Record, frozen=True, omit_defaults=True):
    """How long the calls of an operation took.

    Where only some requests were recorded individually, numbers are estimates: `calls` within its
    bound, times between low and high, for 95 of 100; None where too few requests were drawn.
    """

    layer: str
    op: str
    calls: Count | None
    mean: Ns | None
    p50: Ns | None
    p95: Ns | None
    p99: Ns | None
    calls_bound: Count | None = None
    mean_low: Ns | None = None
    mean_high: Ns | None = None
    p50_low: Ns | None = None
    p50_high: Ns | None = None
    p95_low: Ns | None = None
    p95_high: Ns | None = None
    p99_low: Ns | None = None
    p99_high: Ns | None = None


class Durations(Record, frozen=True):
    """Calls that took as long as a bucket says, and their time together; subclasses have keys."""

    bucket: int
    calls: Count
    time: Ns


class _Durations(Durations, frozen=True):
    layer: str
    op: str


class JobDurations(Durations, frozen=True):
    """Of a layer on a host for a job, '' for none."""

    host: str
    layer: str
    job: str


def timed(calls: ir.Table) -> ir.Table:
    """The calls that latencies are of."""
    return calls.filter(calls.dur.notnull(), counted_once(calls))


def durations(calls: ir.Table, *keys: str) -> ir.Table:
    """Of calls, per `keys` and bucket, `Durations`."""
    rows = timed(calls)
    rows = rows.select(*keys, bucket=bucket(rows.dur), dur=rows.dur)
    found = rows.group_by(*keys, "bucket").agg(
        calls=rows.count(), time=rows.dur.sum().cast("int64")
    )
    return found.order_by(*keys, "bucket")


def _by_operation() -> ir.Table:
    return durations(CALLS, "layer", "op")


def durations_by_host() -> ir.Table:
    """Each `JobDurations`."""
    calls = CALLS.mutate(host=CALLS.host.fill_null(""), job=CALLS.job.fill_null(""))
    return durations(calls, "host", "layer", "job")


def latencies(opened: OpenedRun, sampled: bool) -> list[Latency]:
    """Of each operation, the longest together first; `sampled`: of the table `sample`."""
    if sampled:
        return _estimates(opened)
    operations: dict[tuple[str, str], dict[int, _Durations]] = {}
    for row in DuckDb(opened).records(_by_operation, _Durations):
        operations.setdefault((row.layer, row.op), {})[row.bucket] = row
    times = {key: sum(row.time for row in rows.values()) for key, rows in operations.items()}
    longest = sorted(operations, key=lambda key: (-times[key], key))
    return [_latency(*key, operations[key], times[key]) for key in longest]


def _latency(layer: str, op: str, buckets: dict[int, _Durations], time: int) -> Latency:
    counts = {number: row.calls for number, row in buckets.items()}
    calls = sum(counts.values())
    ends = [buckets[holding(counts, at) or 0] for at in QUANTILES.values()]
    quantiles = (round(row.time / row.calls) for row in ends)
    return Latency(layer, op, calls, round(time / calls), *quantiles)


def _estimates(opened: OpenedRun) -> list[Latency]:
    view = timed(sample.SAMPLE).select("layer", "op", "dur", "request", "w")
    opened.rows(f"CREATE OR REPLACE TEMP VIEW timed AS {DuckDb(opened).sql(view)}")
    keys, table = "layer, op", "timed"
    calls = sample.totals(opened, keys, "1", table=table)
    statistics = {"mean": sample.means(opened, keys, "dur", table=table)} | {
        name: sample.quantiles(opened, keys, "dur", at, table=table)
        for name, at in QUANTILES.items()
    }
    longest = f"SELECT {keys} FROM timed GROUP BY {keys} ORDER BY sum(w * dur) DESC, {keys}"
    rows = []
    for row in opened.rows(longest):
        key = row["layer"], row["op"]
        number, bound = calls[key].rounded()
        times: dict[str, int | None] = {}
        for name, estimates in statistics.items():
            estimate = estimates[key]
            ends = (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high))
            times |= {f"{name}{end}": None if ns is None else round(ns) for end, ns in ends}
        rows.append({**row, "calls": number, "calls_bound": bound, **times})
    return records(rows, Latency)
