"""The time axis of a report, and what every layer moved in each of its bins."""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.over_time import SECOND, over_time
from iostrata.schema.directions import DIRECTIONS
from iostrata.show.totals import Row, in_layer_order
from iostrata.store.opened import OpenedRun

MOST_BINS = 240
_EVER = 1 << 61
# Shorter bins would show detail that sums, which are a second apart, do not have.
_WIDTHS = tuple(n * SECOND // 2 for n in (1, 2, 4, 10, 20, 40, 60, 120, 240, 600, 1200, 3600))


@dataclass(frozen=True)
class Axis:
    """`bins` bins of `width` ns from `start`, ns since the epoch."""

    start: int
    width: int
    bins: int

    def as_dict(self) -> Row:
        return {"start": self.start, "bin": self.width, "bins": self.bins}


def axis_of(opened: OpenedRun) -> Axis:
    """An axis that holds the run and every sum of it, in at most MOST_BINS bins.

    It begins with the run: what a clock put before that belongs to the first bin.
    """
    found = opened.rows(
        'SELECT min(greatest(start, start + dur - $1)) AS "from", '
        "max(start + dur) AS until FROM sums",
        [_within(opened)],
    )[0]
    run = opened.run
    start = run.start or found["from"] or 0
    length = max(run.end, found["until"] or 0) - start
    if not start or length <= 0:
        return Axis(start, _WIDTHS[0], 1)
    width = next((w for w in _WIDTHS if length < w * MOST_BINS), length // MOST_BINS + 1)
    return Axis(start, width, max(1, length // width + 1))


def series(opened: OpenedRun, axis: Axis) -> list[Row]:
    """Per layer: `calls` per bin, and per direction that was used `bytes_*` per bin, as
    `analyse.over_time` spreads them.
    """
    found: dict[str, Row] = {}
    names = {"calls": "calls"} | {way: f"bytes_{way}" for way in DIRECTIONS}
    for row in DuckDb(opened).rows(over_time(axis.start, axis.width, _within(opened))):
        layer = found.setdefault(row["layer"], {"layer": row["layer"], "calls": [0] * axis.bins})
        for value, name in names.items():
            if row[value]:
                layer.setdefault(name, [0] * axis.bins)[row["bin"]] = row[value]
    return in_layer_order(list(found.values()))


def _within(opened: OpenedRun) -> int:
    """How long before its end a sum may have grown, ns; of imported runs as long as it says."""
    return _EVER if opened.run.source else SECOND
