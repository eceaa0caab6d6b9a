"""The time axis of a report, and what every layer moved in each of its bins.

A row of kind `sum` says what grew until `start + dur`. The collector looks at least once a second,
so it grew within the second before that: what a row counted is spread evenly over it, in whole
bytes and calls, so that the bins of a layer add up to its total exactly. Sums of imported runs may
be of the whole time in which a file was read: they are spread over all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.schema.directions import DIRECTIONS
from iostrata.show.totals import OUTER, UNCOVERED, Row, in_layer_order
from iostrata.store.opened import OpenedRun

MOST_BINS = 240
_SECOND = 10**9
_EVER = 1 << 61
# Shorter bins would show detail that sums, which are a second apart, do not have.
_WIDTHS = tuple(n * _SECOND // 2 for n in (1, 2, 4, 10, 20, 40, 60, 120, 240, 600, 1200, 3600))


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
    """Per layer: `calls` per bin, and per direction that was used `bytes_*` per bin."""
    found: dict[str, Row] = {}
    for row in opened.rows(_SPREAD, [axis.start, axis.width, _within(opened)]):
        layer = found.setdefault(row["layer"], {"layer": row["layer"], "calls": [0] * axis.bins})
        for name in ("calls", *(f"bytes_{way}" for way in DIRECTIONS)):
            if row[name]:
                layer.setdefault(name, [0] * axis.bins)[row["bin"]] = row[name]
    return in_layer_order(list(found.values()))


def _within(opened: OpenedRun) -> int:
    """How long before its end a sum may have grown, ns."""
    return _EVER if opened.run.source else _SECOND


def _way(op_names: tuple[str, ...]) -> str:
    names = ", ".join(f"'{name}'" for name in op_names)
    return f"CASE WHEN op IN ({names}) AND {UNCOVERED} THEN bytes ELSE 0 END"


_VALUES = {"calls": f'CASE WHEN {OUTER} THEN "count" ELSE 0 END'} | {
    f"bytes_{way}": _way(ops) for way, ops in DIRECTIONS.items()
}
# Rows that grew over the same ns are one; `last` is their last bin.
_GROWN = f"""
    SELECT layer, begin, until - begin AS length, begin // width AS first, until // width AS last,
        width, {", ".join(f"sum({value})::HUGEINT AS {name}" for name, value in _VALUES.items())}
    FROM (SELECT *, greatest(start - $1, start + dur - $1 - $3, 0) AS begin,
        greatest(start + dur - $1, 0) AS until, $2::BIGINT AS width FROM sums)
    GROUP BY ALL"""


def _until(place: str) -> str:
    """Of a value, the part that lies before a bin's edge: cumulative, so parts add up."""
    return (
        f"(CASE WHEN {place} > last THEN {{0}} WHEN {place} <= first THEN 0 "
        f"ELSE {{0}} * (({place}) * width - begin) // greatest(length, 1) END)"
    )


_PARTS = ", ".join(
    f"sum({_until('bin + 1').format(name)} - {_until('bin').format(name)})::BIGINT AS {name}"
    for name in _VALUES
)
_SPREAD = f"""
    SELECT layer, bin, {_PARTS}
    FROM (SELECT *, unnest(range(first, last + 1)) AS bin FROM ({_GROWN}))
    GROUP BY layer, bin"""
