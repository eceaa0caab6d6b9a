"""Groups of runs compared row by row: each with its change, interval and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

import msgspec

from iostrata.analyse.changes import GroupChange, change, changed
from iostrata.analyse.measured import METRICS, TABLES, Measured, RowKey, TableKind
from iostrata.records import Count, Record
from iostrata.text import printable
from iostrata.version import __version__

Verdict = Literal["changed", "within noise", "cannot say"]
CHANGED: Final = "changed"
NOISE: Final = "within noise"
UNKNOWN: Final = "cannot say"
METHOD = (
    "Means are geometric, with 95 % intervals of their change (Welch's t on logarithms). "
    "Changed is what is unlikely to be noise of the repeats, tested together per table "
    "(Benjamini-Hochberg, 5 %)."
)
ONE_RUN = "one run is no measure of noise: what differs may be chance (two a side at least)"


class Metric(GroupChange, frozen=True, kw_only=True):
    """The change of one number of a row (times: ns), and its value in each run of both sides."""

    verdict: Verdict
    runs: tuple[list[float], list[float]]


class Difference(Record, frozen=True):
    """A row: by how many ns its mean time grew, and its changes by the names of METRICS.

    It has changed if any of its numbers has.
    """

    key: RowKey
    time_grown: float
    verdict: Verdict
    metrics: dict[str, Metric]


class ComparedTable(Record, frozen=True):
    """Rows in the order of how much time their change explains; `more` rows are left out."""

    id: str
    title: str
    keys: RowKey
    rows: list[Difference]
    more: Count


class Comparison(Record, frozen=True):
    """Two groups of runs, a line for each thing that makes them differ as runs, and the tables.

    `names`: what the user calls the groups; `first` and `second`: the names of their runs; `notes`:
    what a reader must know of how the rows came about.
    """

    iostrata: str
    names: tuple[str, str]
    first: list[str]
    second: list[str]
    unlike: list[str]
    notes: list[str]
    tables: list[ComparedTable]

    def bounded(self, most: int) -> Comparison:
        """The same with at most so many rows of a table."""
        tables = [
            msgspec.structs.replace(
                table, rows=table.rows[:most], more=max(0, len(table.rows) - most)
            )
            for table in self.tables
        ]
        return msgspec.structs.replace(self, tables=tables)


def compare(
    first: Sequence[Measured], second: Sequence[Measured], names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """Compares two groups of at least one run."""
    alone = min(len(first), len(second)) < 2
    return Comparison(
        iostrata=__version__,
        names=names,
        first=[run.name for run in first],
        second=[run.name for run in second],
        unlike=unlike(first, second),
        notes=[ONE_RUN if alone else METHOD],
        tables=[
            ComparedTable(table.id, table.title, table.keys, _rows(table, first, second), 0)
            for table in TABLES
        ],
    )


def unlike(first: Sequence[Measured], second: Sequence[Measured]) -> list[str]:
    """Facts that are not the same in all runs, one a line."""
    lines = []
    for name in first[0].facts:
        sides = [sorted({run.facts[name] for run in side}) for side in (first, second)]
        if sides[0] != sides[1] or len(sides[0]) > 1:
            lines.append(f"{name}: {' against '.join(' | '.join(values) for values in sides)}")
    runs = sorted([*first, *second], key=lambda run: run.start)
    lines += [
        f"at the same time: {before.name} and {after.name}"
        for before, after in pairwise(runs)
        if after.start and before.end > after.start
    ]
    odd = {run.name: run.facts["state"] for run in [*first, *second] if run.facts["state"] != "ok"}
    lines += [f"not ended well: {name} ({state})" for name, state in odd.items()]
    return [printable(line) for line in lines]


def _rows(
    table: TableKind, first: Sequence[Measured], second: Sequence[Measured]
) -> list[Difference]:
    keys = sorted({key for run in [*first, *second] for key in run.tables[table]})
    sides = {key: [_values(table, key, side) for side in (first, second)] for key in keys}
    changes = {
        (key, name): change(before[name], after[name])
        for key, (before, after) in sides.items()
        for name in METRICS
        if before[name] and after[name]
    }
    changes = {place: made for place, made in changes.items() if made.first or made.second}
    verdicts = _verdicts(changes)
    rows = []
    for key, (before, after) in sides.items():
        metrics = {
            name: Metric(
                **msgspec.structs.asdict(changes[key, name]),
                verdict=verdicts[key, name],
                runs=(before[name], after[name]),
            )
            for name in METRICS
            if (key, name) in changes
        }
        rows.append(_difference(key, metrics))
    return sorted(rows, key=lambda row: (-abs(row.time_grown), row.key))


def _values(table: TableKind, key: RowKey, side: Sequence[Measured]) -> dict[str, list[float]]:
    """Per metric the value of each run; none of a run whose list was cut and lacks the key."""
    known = [run for run in side if key in run.tables[table] or table not in run.cut]
    rows = [run.tables[table].get(key, {}) for run in known]
    return {name: [row.get(name, 0.0) for row in rows] for name in METRICS}


def _verdicts(
    changes: Mapping[tuple[RowKey, str], GroupChange],
) -> dict[tuple[RowKey, str], Verdict]:
    """All numbers of a table are tested together."""
    tested = {place: made.p for place, made in changes.items() if made.p is not None}
    significant = changed(list(tested.values()))
    verdicts: dict[tuple[RowKey, str], Verdict] = dict.fromkeys(changes, UNKNOWN)
    return verdicts | {
        place: CHANGED if has_changed else NOISE
        for place, has_changed in zip(tested, significant, strict=True)
    }


def _difference(key: RowKey, metrics: dict[str, Metric]) -> Difference:
    verdicts = {metric.verdict for metric in metrics.values()}
    verdict: Verdict = CHANGED if CHANGED in verdicts else NOISE if NOISE in verdicts else UNKNOWN
    time = metrics.get("time")
    return Difference(key, time.second - time.first if time else 0.0, verdict, metrics)
