"""One run of a comparison: its facts, and every number of it that is compared.

Numbers are those of the summary (`show.totals`), and of targets those of `analyse.targets`: calls,
bytes, times in ns summed over threads.
"""

from __future__ import annotations

import shlex

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.measured import (
    JOB,
    MOST_TARGETS,
    POINTS,
    TARGETS,
    Measured,
    RowKey,
    Values,
    hottest_targets,
    sums_by_table,
)
from iostrata.schema.detail import budget_text
from iostrata.schema.events import ALL_REQUESTS
from iostrata.schema.names import sampling_text
from iostrata.show.totals import Row, Totals, totals
from iostrata.store.opened import OpenedRun


def measured(opened: OpenedRun) -> Measured:
    """Reads what is compared of a run."""
    summed, run, engine = totals(opened), opened.run, DuckDb(opened)
    targets = {} if summed.sampled else hottest_targets(engine)
    tables = {
        JOB: _job(summed),
        POINTS: _points(summed.ops),
        **sums_by_table(engine),
        TARGETS: targets,
    }
    cut = frozenset({TARGETS} if summed.sampled or len(targets) == MOST_TARGETS else ())
    return Measured(run.name, run.start, run.end, _facts(summed), tables, cut)


def _job(summed: Totals) -> dict[RowKey, Values]:
    run = summed.run
    job: dict[RowKey, Values] = {}
    if run.end > run.start:
        job["wall time",] = {"time": float(run.end - run.start)}
    if summed.cost.cpu:
        job["CPU of traced processes",] = {"time": float(summed.cost.cpu)}
    return job


def _points(rows: list[Row]) -> dict[RowKey, Values]:
    """In brackets what is nested in a call of its layer."""
    points: dict[RowKey, Values] = {}
    for row in rows:
        op = f"({row['op']})" if row["nested"] else row["op"]
        numbers = {name: float(row[name]) for name in ("time", "calls", "bytes", "errors")}
        points[f"{row['layer']}.{op}",] = numbers
    return points


def _facts(summed: Totals) -> dict[str, str]:
    """What two runs must have alike to be compared."""
    run, covered = summed.run, summed.coverage
    sampling = sampling_text(run.sampling or ALL_REQUESTS)
    traced = "all" if covered.traced == covered.total else f"{covered.traced}/{covered.total}"
    lost = {"collapsed": summed.collapsed, "lost": summed.lost, "rejected": summed.rejected}
    lost |= {"dropped": summed.dropped}
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
        "DataNodes traced": _datanodes(summed),
        "not in it": "; ".join(summed.incomplete) or "nothing",
        "losses": ", ".join(f"{count} {name}" for name, count in lost.items() if count) or "none",
    }


def _datanodes(summed: Totals) -> str:
    listed = summed.coverage.datanodes
    if listed is None:
        return "not asked"
    return f"{len(listed) - len(summed.coverage.missing_datanodes)}/{len(listed)}"
