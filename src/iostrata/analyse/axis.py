"""The time axis of a run, and what every layer moved in each of its bins."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.over_time import SECOND, LayerBin, over_time
from iostrata.analyse.tables import SUMS
from iostrata.records import Bytes, Count, EpochNs, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.store.opened import OpenedRun

MOST_BINS = 240
_EVER = 1 << 61
# Shorter bins would show detail that sums, which are a second apart, do not have.
_WIDTHS = tuple(n * SECOND // 2 for n in (1, 2, 4, 10, 20, 40, 60, 120, 240, 600, 1200, 3600))


class Axis(Record, frozen=True):
    """`bins` bins of `bin` ns each, from `start`."""

    start: EpochNs
    bin: Ns
    bins: Count


class Series(Record, frozen=True, omit_defaults=True):
    """What a layer did in each bin of an axis; a direction that was not used is absent."""

    layer: str
    calls: list[Count]
    bytes_read: list[Bytes] | None = None
    bytes_written: list[Bytes] | None = None
    bytes_received: list[Bytes] | None = None
    bytes_sent: list[Bytes] | None = None


class Extent(Record, frozen=True):
    """When the first sum began to grow, and when the last was looked at; null: there is none."""

    start: EpochNs | None
    end: EpochNs | None


def extent(within: int = SECOND) -> ir.Table:
    """An `Extent`; a sum may have grown `within` ns before its end."""
    end = SUMS.start + SUMS.dur
    return SUMS.agg(start=ibis.greatest(SUMS.start, end - within).min(), end=end.max())


def axis_of(opened: OpenedRun) -> Axis:
    """An axis that holds the run and every sum of it, in at most MOST_BINS bins.

    It begins with the run: what a clock put before that belongs to the first bin.
    """
    [sums] = DuckDb(opened).records(extent(grown_within(opened)), Extent)
    start = opened.run.start or sums.start or 0
    length = max(opened.run.end, sums.end or 0) - start
    if not start or length <= 0:
        return Axis(start, _WIDTHS[0], 1)
    width = next((w for w in _WIDTHS if length < w * MOST_BINS), length // MOST_BINS + 1)
    return Axis(start, width, max(1, length // width + 1))


def series(opened: OpenedRun, axis: Axis) -> list[Series]:
    """The series of each layer, as `over_time` spreads sums."""
    layers: dict[str, dict[str, list[int]]] = {}
    expression = over_time(axis.start, axis.bin, grown_within(opened))
    for row in DuckDb(opened).records(expression, LayerBin):
        values = layers.setdefault(row.layer, {"calls": [0] * axis.bins})
        for name, column in {"calls": "calls", **BYTES_COLUMN}.items():
            if amount := getattr(row, name):
                values.setdefault(column, [0] * axis.bins)[row.bin] = amount
    return [Series(layer, **values) for layer, values in layers.items()]


def grown_within(opened: OpenedRun) -> int:
    """How long before its end a sum may have grown, ns; of imported runs as long as it says."""
    return _EVER if opened.run.source else SECOND
