"""One run of a comparison: its facts, and every number of it that is compared.

Numbers are those of the summary (`show.totals`), and of targets those of `analyse.targets`: calls,
bytes, times in ns summed over threads.
"""

from __future__ import annotations

import shlex

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.measured import (
    CATEGORIES,
    JOB,
    LAYERS,
    METRICS,
    MOST_TARGETS,
    PHASES,
    POINTS,
    TARGETS,
    Measured,
    RowKey,
    Values,
)
from iostrata.analyse.targets import targets_alike
from iostrata.schema.detail import budget_text
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.events import ALL_REQUESTS
from iostrata.schema.names import sampling_text
from iostrata.show.totals import Row, Totals, summed, totals
from iostrata.store.opened import OpenedRun


def measured(opened: OpenedRun) -> Measured:
    """Reads what is compared of a run."""
    found, run = totals(opened), opened.run
    targets = {} if found.sampled else _by(_targets(opened), *TARGETS.keys)
    tables = {
        JOB: _job(found),
        LAYERS: _by(found.layers, "layer"),
        POINTS: _points(found.ops),
        CATEGORIES: _by(opened.rows(summed("layer, category")), "layer", "category"),
        PHASES: _by(opened.rows(_BY_PHASE), "phase", "layer"),
        TARGETS: targets,
    }
    cut = frozenset({TARGETS} if found.sampled or len(targets) == MOST_TARGETS else ())
    return Measured(run.name, run.start, run.end, _facts(found), tables, cut)


def _job(found: Totals) -> dict[RowKey, Values]:
    run = found.run
    job: dict[RowKey, Values] = {}
    if run.end > run.start:
        job["wall time",] = {"time": float(run.end - run.start)}
    if found.cost.cpu:
        job["CPU of traced processes",] = {"time": float(found.cost.cpu)}
    return job


def _points(rows: list[Row]) -> dict[RowKey, Values]:
    """In brackets what is nested in a call of its layer."""
    named = []
    for row in rows:
        op = f"({row['op']})" if row["nested"] else row["op"]
        used = ("calls", "bytes", "time", "errors")
        named.append({"operation": f"{row['layer']}.{op}", **{name: row[name] for name in used}})
    return _by(named, "operation")


def _targets(opened: OpenedRun) -> list[Row]:
    rows = DuckDb(opened).rows(targets_alike(MOST_TARGETS))
    return [{**row, **{BYTES_COLUMN[name]: row[name] for name in BYTES_COLUMN}} for row in rows]


def _by(rows: list[Row], *keys: str) -> dict[RowKey, Values]:
    return {
        tuple(row[key] or "-" for key in keys): {
            name: float(row[name]) for name in METRICS if row.get(name) is not None
        }
        for row in rows
    }


def _facts(found: Totals) -> dict[str, str]:
    """What two runs must have alike to be compared."""
    run, covered = found.run, found.coverage
    sampling = sampling_text(run.sampling or ALL_REQUESTS)
    traced = "all" if covered.traced == covered.total else f"{covered.traced}/{covered.total}"
    lost = {"collapsed": found.collapsed, "lost": found.lost, "rejected": found.rejected}
    lost |= {"dropped": found.dropped}
    return {
        "command": shlex.join(run.command),
        "state": run.state,
        "level": run.level,
        "budget": budget_text(run.budget),
        "sampling": sampling,
        "user points": ", ".join(sorted(point["method"] for point in run.points)) or "none",
        "agent": run.agent,
        "hosts": ", ".join(sorted({str(row["host"]) for row in covered.processes})) or "none",
        "processes traced": traced,
        "DataNodes traced": _datanodes(found),
        "not in it": "; ".join(found.incomplete) or "nothing",
        "losses": ", ".join(f"{count} {name}" for name, count in lost.items() if count) or "none",
    }


def _datanodes(found: Totals) -> str:
    listed = found.coverage.datanodes
    if listed is None:
        return "not asked"
    return f"{len(listed) - len(found.coverage.missing_datanodes)}/{len(listed)}"


_BY_PHASE = summed("phase, layer", where="coalesce(phase, '') <> ''")
