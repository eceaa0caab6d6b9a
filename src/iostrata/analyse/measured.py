"""One run of a comparison: its facts, and every number of it that is compared.

Numbers are those of the summary, and of targets those of `analyse.targets`: calls, bytes, times in
ns summed over threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from iostrata.analyse.account import Account, account
from iostrata.analyse.engine import Engine
from iostrata.analyse.tables import SUMS
from iostrata.analyse.targets import targets_alike
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN

MOST_TARGETS = 400
METRICS = ("time", "calls", *BYTES_COLUMN.values(), "bytes", "errors")

RowKey = tuple[str, ...]
Values = dict[str, float]


class TableKind(NamedTuple):
    """What is compared row by row: its title and what its keys are called."""

    id: str
    title: str
    keys: RowKey


JOB = TableKind("job", "Job", ("what",))
LAYERS = TableKind("layers", "Layers", ("layer",))
POINTS = TableKind("points", "Operations", ("operation",))
CATEGORIES = TableKind("categories", "Categories of targets", ("layer", "category"))
PHASES = TableKind("phases", "Phases of tasks", ("phase", "layer"))
TARGETS = TableKind("targets", "Targets", ("layer", "category", "target"))
TABLES = (JOB, LAYERS, POINTS, CATEGORIES, PHASES, TARGETS)


@dataclass(frozen=True)
class Measured:
    """Facts of a run by name, and its values by table, key and metric.

    A key that is missing was 0, in a table of `cut` it may be more. `start` and `end`: ns.
    """

    name: str
    start: int
    end: int
    facts: dict[str, str]
    tables: dict[TableKind, dict[RowKey, Values]]
    cut: frozenset[TableKind] = field(default_factory=frozenset)


class LayerSum(Account, frozen=True):
    """Of a layer."""

    layer: str


class CategorySum(Account, frozen=True):
    """Of what the calls of a layer were on."""

    layer: str
    category: str | None


class PhaseSum(Account, frozen=True):
    """Of a layer, in a phase of attempts."""

    phase: str
    layer: str


class TargetSum(Record, frozen=True):
    """Of targets whose names differ in numbers only."""

    layer: str
    category: str | None
    target: str
    calls: Count
    time: Ns
    read: Bytes
    written: Bytes
    received: Bytes
    sent: Bytes


def sums_by_table(engine: Engine) -> dict[TableKind, dict[RowKey, Values]]:
    """The rows of LAYERS, CATEGORIES and PHASES."""
    phased = SUMS.filter(SUMS.phase.fill_null("") != "")
    return {
        LAYERS: _by_key(engine.records(account(SUMS, *LAYERS.keys), LayerSum), LAYERS),
        CATEGORIES: _by_key(
            engine.records(account(SUMS, *CATEGORIES.keys), CategorySum), CATEGORIES
        ),
        PHASES: _by_key(engine.records(account(phased, *PHASES.keys), PhaseSum), PHASES),
    }


def hottest_targets(engine: Engine) -> dict[RowKey, Values]:
    """The rows of TARGETS, at most MOST_TARGETS, of calls that were recorded individually."""
    return _by_key(engine.records(targets_alike(MOST_TARGETS), TargetSum), TARGETS)


def _by_key(rows: Iterable[Account | TargetSum], table: TableKind) -> dict[RowKey, Values]:
    def key(row: Any) -> RowKey:
        return tuple(getattr(row, name) or "-" for name in table.keys)

    return {key(row): _values(row) for row in rows}


def _values(row: Account | TargetSum) -> Values:
    moved = {column: float(getattr(row, name)) for name, column in BYTES_COLUMN.items()}
    errors = {"errors": float(row.errors)} if isinstance(row, Account) else {}
    return {"time": float(row.time), "calls": float(row.calls), **moved, **errors}
