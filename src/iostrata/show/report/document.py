"""The document of a report: every number that its page shows, and nothing else.

Aggregates only, each list bounded: a run of a million tasks makes a document of the same size.
`report/src/document.ts` declares the same shape for the page. Sizes are bytes; times are ns since
the epoch, durations ns; names are as they were recorded, so whoever shows them must escape them.
"""

from __future__ import annotations

from importlib.metadata import version

from iostrata.schema.directions import DIRECTIONS
from iostrata.show.report.axis import axis_of, series
from iostrata.show.report.flow import by_category, flow
from iostrata.show.report.hosts import hosts
from iostrata.show.report.tasks import tasks
from iostrata.show.summary import completeness, why_empty
from iostrata.show.totals import (
    SIZES,
    Row,
    Totals,
    hottest,
    in_layer_order,
    summed,
    totals,
)
from iostrata.store.opened import OpenedRun

VERSION = 1
MOST_TARGETS = 400
MOST_TASKS = 600
MOST_PROCESSES = 200
MOST_ROWS = 400
MOST_NAME = 300  # characters of one name
MOST_COMMAND = 2000


def document(opened: OpenedRun) -> Row:
    """JSON values of one run; `sizes`, `layers` and `ops` are as in `iostrata summary --json`."""
    found = totals(opened)
    axis = axis_of(opened)
    all_tasks = tasks(opened, found.tasks)
    waits = in_layer_order(opened.rows(_WAITS))
    categories = by_category(opened)
    return {
        "version": VERSION,
        "iostrata": version("iostrata"),
        "run": _run(found),
        "completeness": _completeness(found),
        "empty": "" if found.layers else why_empty(found),
        "layers": found.layers,
        "ops": found.ops[:MOST_ROWS],
        "axis": axis.as_dict(),
        "series": series(opened, axis),
        "tasks": _bounded(sorted(all_tasks, key=lambda t: -t["time"]), MOST_TASKS),
        "flow": flow(opened),
        "categories": _bounded(categories, MOST_ROWS),
        "size_classes": [name for name, _ in SIZES] + ["unknown"],
        "sizes": found.sizes,
        "targets": _bounded(_targets(opened), MOST_TARGETS),
        "waits": _bounded(sorted(waits, key=lambda row: -row["time"]), MOST_ROWS),
        "system": hosts(opened, axis),
    }


def _bounded(rows: list[Row], most: int) -> Row:
    """The first rows, and how many more there are (for targets: at least)."""
    return {"rows": [_cut(row) for row in rows[:most]], "more": max(0, len(rows) - most)}


def _run(found: Totals) -> Row:
    facts = found.run.as_dict()
    command = " ".join(facts.pop("command"))
    kept = ("name", "state", "exit", "start", "end", "host", "user", "events", "bytes", "message")
    return {name: facts[name] for name in kept} | {"command": _short(command, MOST_COMMAND)}


def _completeness(found: Totals) -> Row:
    """`lines` are the first lines of the summary, word by word."""
    lost = ("dropped", "folded", "lost", "refused")
    worst = sorted(found.processes, key=lambda row: -sum(row[name] or 0 for name in lost))
    shown = ("role", "pid", "host", "job", "task", "exit", "calls", "detail", *lost)
    return {
        "lines": [_short(line) for line in completeness(found)[:MOST_PROCESSES]],
        "traced": found.traced,
        "total": len(found.processes),
        "more_lines": max(0, len(completeness(found)) - MOST_PROCESSES),
        "silent_layers": found.silent_layers,
        "absent_layers": found.absent_layers,
        "unfinished": found.unfinished,
        "faulted_points": found.faulted[:MOST_PROCESSES],
        "losses": {name: getattr(found, name) for name in lost},
        "processes": _bounded([{k: row[k] for k in shown} for row in worst], MOST_PROCESSES),
    }


def _targets(opened: OpenedRun) -> list[Row]:
    """Ids of blocks have 64 bits, more than a number of the page holds: as text.

    Where too few requests are in the sample to estimate the numbers of a row, it says `few`.
    """
    rows = []
    for row in hottest(opened, MOST_TARGETS + 1):
        block = None if row["block"] is None else str(row["block"])
        few = {} if row["time"] is not None else {"few": True}
        shown = {k: 0 if v is None and k in _NUMBERS else v for k, v in row.items()}
        rows.append(shown | {"block": block} | few)
    return rows


def _cut(row: Row) -> Row:
    return {key: _short(value) if isinstance(value, str) else value for key, value in row.items()}


def _short(text: str, most: int = MOST_NAME) -> str:
    """The text without its middle: a path may have 8,000 characters."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


_NUMBERS = ("calls", "time", *(f"bytes_{way}" for way in DIRECTIONS))
_NUMBERS += tuple(f"{name}_bound" for name in _NUMBERS)
_WAITS = f"""
    SELECT coalesce(role, '') AS role, layer, op, calls, time, time_bound, estimated
    FROM ({summed("role, layer, op")}) WHERE time > 0"""
