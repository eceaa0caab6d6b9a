"""Groups of runs compared row by row: each with its change, interval and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from iostrata.show.compare.measured import METRICS, TABLES, Key, Measured, Table
from iostrata.show.compare.noise import Change, change, changed
from iostrata.text import printable

CHANGED, NOISE, UNKNOWN = "changed", "within noise", "cannot say"
METHOD = (
    "Means are geometric, with 95 % intervals of their change (Welch's t on logarithms). "
    "Changed is what is unlikely to be noise of the repeats, tested together per table "
    "(Benjamini-Hochberg, 5 %)."
)
ONE_RUN = "one run is no measure of noise: what differs may be chance (two a side at least)"


@dataclass
class Difference:
    """A row: its key, values of each run, changes and verdicts by metric."""

    key: Key
    first: dict[str, list[float]]
    second: dict[str, list[float]]
    changes: dict[str, Change]
    verdicts: dict[str, str]

    @property
    def time(self) -> float:
        """By how many ns the mean time grew."""
        return _grown(self.changes.get("time"))

    @property
    def verdict(self) -> str:
        """Of the row: changed if anything of it is."""
        for word in (CHANGED, NOISE):
            if word in self.verdicts.values():
                return word
        return UNKNOWN

    def as_dict(self) -> dict[str, Any]:
        """JSON values; times in ns."""
        return {
            "key": list(self.key),
            "time_grown": self.time,
            "verdict": self.verdict,
            "metrics": {
                name: {**asdict(found), "verdict": self.verdicts[name]}
                | {"runs": [self.first[name], self.second[name]]}
                for name, found in self.changes.items()
            },
        }


@dataclass(frozen=True)
class Comparison:
    """Two groups of runs, what makes them differ as runs, and the rows of each table."""

    first: Sequence[Measured]
    second: Sequence[Measured]
    unlike: list[str]
    tables: dict[Table, list[Difference]]

    @property
    def notes(self) -> list[str]:
        """What a reader must know of how the rows came about."""
        alone = min(len(self.first), len(self.second)) < 2
        return [ONE_RUN] if alone else [METHOD]

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "first": [run.name for run in self.first],
            "second": [run.name for run in self.second],
            "unlike": self.unlike,
            "notes": self.notes,
            "tables": [
                {"id": table.id, "title": table.title, "keys": list(table.keys)}
                | {"rows": [row.as_dict() for row in rows]}
                for table, rows in self.tables.items()
            ],
        }


def compare(first: Sequence[Measured], second: Sequence[Measured]) -> Comparison:
    """Rows of each table in order of how much time their change explains."""
    tables = {table: _rows(table, first, second) for table in TABLES}
    return Comparison(first, second, unlike(first, second), tables)


def unlike(first: Sequence[Measured], second: Sequence[Measured]) -> list[str]:
    """Facts that are not the same in all runs, one a line."""
    lines = []
    for name in first[0].facts:
        sides = [sorted({run.facts[name] for run in side}) for side in (first, second)]
        if sides[0] != sides[1] or len(sides[0]) > 1:
            told = (" | ".join(values) for values in sides)
            lines.append(f"{name}: {' against '.join(told)}")
    runs = sorted([*first, *second], key=lambda run: run.start)
    lines += [
        f"at the same time: {before.name} and {after.name}"
        for before, after in pairwise(runs)
        if after.start and before.end > after.start
    ]
    odd = {run.name: run.facts["state"] for run in [*first, *second] if run.facts["state"] != "ok"}
    lines += [f"not ended well: {name} ({state})" for name, state in odd.items()]
    return [printable(line) for line in lines]


def _rows(table: Table, first: Sequence[Measured], second: Sequence[Measured]) -> list[Difference]:
    keys = {key for run in [*first, *second] for key in run.tables[table]}
    rows = [_row(table, key, first, second) for key in sorted(keys)]
    _judge(rows)
    return sorted(rows, key=lambda row: (-abs(row.time), row.key))


def _row(
    table: Table, key: Key, first: Sequence[Measured], second: Sequence[Measured]
) -> Difference:
    has = {name for run in [*first, *second] for name in run.tables[table].get(key, ())}
    sides: list[dict[str, list[float]]] = []
    for side in (first, second):
        # what a cut list lacks is not known: no number stands for it
        known = [run for run in side if key in run.tables[table] or table not in run.cut]
        values = [run.tables[table].get(key, {}) for run in known]
        sides.append(
            {name: [each.get(name, 0.0) for each in values] for name in METRICS if name in has}
        )
    names = [name for name in sides[0] if sides[0][name] and sides[1][name]]
    changes = {name: change(sides[0][name], sides[1][name]) for name in names}
    used = {name: of for name, of in changes.items() if of.first or of.second}
    return Difference(key, sides[0], sides[1], used, dict.fromkeys(used, UNKNOWN))


def _judge(rows: list[Difference]) -> None:
    """All metrics of a table are tested together."""
    tested = [
        (row, name, found.p)
        for row in rows
        for name, found in row.changes.items()
        if found.p is not None
    ]
    found = changed([p for _, _, p in tested])
    for (row, name, _), has_changed in zip(tested, found, strict=True):
        row.verdicts[name] = CHANGED if has_changed else NOISE


def _grown(time: Change | None) -> float:
    return time.second - time.first if time else 0.0
