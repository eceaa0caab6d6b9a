"""One run of a comparison: its facts, and every number of it that is compared.

Numbers are those of the summary, and of targets those of `analyse.targets`: calls, bytes, times in
ns summed over threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.summary import Summary, summary
from iostrata.analyse.targets import TargetKind, targets_alike
from iostrata.analyse.totals import (
    CategoryTotal,
    OperationTotal,
    PhaseTotal,
    by_category,
    by_phase,
)
from iostrata.records import Record
from iostrata.schema.detail import budget_text, sampling_text
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.events import ALL_REQUESTS
from iostrata.store.opened import OpenedRun

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


def measured(opened: OpenedRun) -> Measured:
    """Reads what is compared of a run."""
    whole, run, engine = summary(opened), opened.run, DuckDb(opened)
    kinds = [] if whole.sampled else engine.records(targets_alike(MOST_TARGETS), TargetKind)
    tables = {
        JOB: _job(whole),
        LAYERS: _by(whole.layers, "layer"),
        POINTS: _points(whole.ops),
        CATEGORIES: _by(engine.records(by_category, CategoryTotal), "layer", "category"),
        PHASES: _by(engine.records(by_phase, PhaseTotal), "phase", "layer"),
        TARGETS: _by(kinds, *TARGETS.keys),
    }
    cut = frozenset({TARGETS} if whole.sampled or len(kinds) == MOST_TARGETS else ())
    return Measured(run.name, run.start, run.end, _facts(whole), tables, cut)


def _job(whole: Summary) -> dict[RowKey, Values]:
    run = whole.run
    job: dict[RowKey, Values] = {}
    if run.end > run.start:
        job["wall time",] = {"time": float(run.end - run.start)}
    if whole.cost.cpu:
        job["CPU of traced processes",] = {"time": float(whole.cost.cpu)}
    return job


def _points(rows: Iterable[OperationTotal]) -> dict[RowKey, Values]:
    """In brackets what is nested in a call of its layer."""
    return {
        (f"{row.layer}.{f'({row.op})' if row.nested else row.op}",): _values(
            row, ("calls", "bytes", "time", "errors")
        )
        for row in rows
    }


def _by(rows: Iterable[Record], *keys: str) -> dict[RowKey, Values]:
    return {tuple(getattr(row, key) or "-" for key in keys): _values(row, METRICS) for row in rows}


def _values(row: Record, names: Iterable[str]) -> Values:
    return {name: float(getattr(row, name)) for name in names if hasattr(row, name)}


def _facts(whole: Summary) -> dict[str, str]:
    """What two runs must have alike to be compared."""
    run, covered = whole.run, whole.processes
    sampling = sampling_text(run.sampling or ALL_REQUESTS)
    traced = "all" if covered.traced == covered.total else f"{covered.traced}/{covered.total}"
    losses = {name: getattr(whole, name) for name in ("collapsed", "lost", "rejected", "dropped")}
    return {
        "command": run.label,
        "state": run.state,
        "level": run.level,
        "budget": budget_text(run.budget),
        "sampling": sampling,
        "user points": ", ".join(sorted(point.method for point in run.points)) or "none",
        "agent": run.agent,
        "hosts": ", ".join(sorted({str(each.host) for each in covered.processes})) or "none",
        "processes traced": traced,
        "DataNodes traced": _datanodes(whole),
        "not in it": "; ".join(whole.incomplete) or "nothing",
        "losses": ", ".join(f"{count} {name}" for name, count in losses.items() if count) or "none",
    }


def _datanodes(whole: Summary) -> str:
    listed = whole.processes.datanodes
    if listed is None:
        return "not asked"
    return f"{len(listed) - len(whole.processes.missing_datanodes)}/{len(listed)}"
