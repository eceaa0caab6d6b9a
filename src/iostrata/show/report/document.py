"""The document of a report: every number that its page shows, and nothing else.

Aggregates only, within `bounds.py`: a run of a million tasks makes a document of the same size.
`report/src/document.ts` declares the same shape for the page. Sizes are bytes; times are ns since
the epoch, durations ns; names are as they were recorded, so whoever shows them must escape them.
"""

from __future__ import annotations

from importlib.metadata import version

from iostrata.analyse.calltree.critical import critical_path
from iostrata.analyse.calltree.native import CallTrees, call_trees
from iostrata.analyse.calltree.trees import Node, call_tree, cut
from iostrata.explain.rank import RULE_STEPS
from iostrata.explain.verdict import explanation
from iostrata.progress import Progress, silent
from iostrata.records import builtins
from iostrata.schema.directions import DIRECTIONS
from iostrata.show.report.axis import axis_of, series
from iostrata.show.report.bounds import MOST_TARGETS, fitted
from iostrata.show.report.flow import by_category, flow
from iostrata.show.report.hosts import hosts
from iostrata.show.report.tasks import tasks
from iostrata.show.summary import completeness, why_empty
from iostrata.show.totals import SIZES, TOTALS_STEPS, Row, Totals, in_layer_order, summed, totals
from iostrata.store.opened import OpenedRun

VERSION = 1


STEPS = (*TOTALS_STEPS, "time line", "tasks", "flow", *RULE_STEPS, "call tree", "critical path")


def document(opened: OpenedRun, step: Progress = silent) -> Row:
    """JSON values of one run; `sizes`, `layers` and `ops` are as in `iostrata summary --json`.

    Says each of STEPS.
    """
    return fitted(_whole(opened, step))


def _whole(opened: OpenedRun, step: Progress) -> Row:
    found = totals(opened, MOST_TARGETS + 1, step)
    step("time line")
    axis = axis_of(opened)
    lines = {"series": series(opened, axis), "system": hosts(opened, axis)}
    step("tasks")
    all_tasks = tasks(opened, found.tasks)
    step("flow")
    waits = in_layer_order(opened.rows(_WAITS))
    return {
        "version": VERSION,
        "iostrata": version("iostrata"),
        "run": _run(found),
        "completeness": _completeness(found),
        "empty": "" if found.layers else why_empty(found),
        "layers": found.layers,
        "ops": found.ops,
        "axis": axis.as_dict(),
        **lines,
        "tasks": _bounded(sorted(all_tasks, key=lambda t: -t["time"])),
        "flow": flow(opened),
        "categories": _bounded(by_category(opened)),
        "size_classes": [name for name, _ in SIZES] + ["unknown"],
        "sizes": found.sizes,
        "targets": _bounded(_targets(found.targets)),
        "waits": _bounded(sorted(waits, key=lambda row: -row["time"])),
        **_explained(opened, step),
    }


def _explained(opened: OpenedRun, step: Progress) -> Row:
    """`verdict`, `findings`, `tree` and `critical`; what is absent the page leaves out."""
    found = explanation(opened, step)
    made = {"verdict": builtins(found.verdict), "findings": builtins(found.findings)}
    trees = call_trees(opened, progress=step)
    tree = [_shown(node) for node in cut(call_tree(opened, trees), 999)]
    return made | ({"tree": tree, "critical": _critical(opened, trees, step)} if tree else {})


def _shown(node: Node) -> Row:
    names = ("layer", "op", "errors", "min", "max", "p50", "p99", "estimated")
    totals = {name: getattr(node, name) or 0 for name in ("calls", "self", "bytes")}
    same = {name: getattr(node, name) for name in names}
    below = [_shown(one) for one in node.below]
    return {"name": node.name, **same, **totals, "total": node.scaled, "below": below}


def _critical(opened: OpenedRun, trees: CallTrees, step: Progress) -> Row:
    """The critical path with its functions added up over roles and hosts."""
    path = critical_path(opened, trees, step)
    functions: dict[str, Row] = {}
    for row in path.by_function:
        name = f"{row.layer}.{row.op}"
        empty = {"name": name, "layer": row.layer, "op": row.op, "working": 0, "waiting": 0}
        functions.setdefault(name, empty)["waiting" if row.waiting else "working"] += row.time
    ranked = sorted(functions.values(), key=lambda row: -row["working"] - row["waiting"])
    parts = [{"name": part.name, **builtins(part)} for part in path.parts]
    return {"wall": path.wall, "parts": parts, "more": 0, "by_function": ranked}


def _bounded(rows: list[Row]) -> Row:
    """All rows; `fitted` keeps the first, and counts how many more there are."""
    return {"rows": rows, "more": 0}


def _run(found: Totals) -> Row:
    facts = found.run.as_dict()
    command = " ".join(facts.pop("command"))
    kept = ("name", "state", "exit", "start", "end", "host", "user", "events", "bytes", "message")
    return {name: facts[name] for name in kept} | {"command": command}


def _completeness(found: Totals) -> Row:
    """`lines` are the first lines of the summary, word by word."""
    lost = ("dropped", "collapsed", "lost", "rejected")
    worst = sorted(found.processes, key=lambda row: -sum(row[name] or 0 for name in lost))
    shown = ("role", "pid", "host", "job", "task", "exit", "calls", "detail", *lost)
    return {
        "lines": completeness(found),
        "incomplete": found.incomplete,
        "traced": found.traced,
        "total": len(found.processes),
        "more_lines": 0,
        "silent_layers": found.silent_layers,
        "absent_layers": found.absent_layers,
        "unfinished": found.unfinished,
        "faulted_points": found.faulted,
        "losses": {name: getattr(found, name) for name in lost},
        "processes": _bounded([{k: row[k] for k in shown} for row in worst]),
    }


def _targets(hottest: list[Row]) -> list[Row]:
    """Ids of blocks have 64 bits, more than a number of the page holds: as text.

    Where too few requests are in the sample to estimate the numbers of a row, it says `few`.
    """
    rows = []
    for row in hottest:
        block = None if row["block"] is None else str(row["block"])
        few = {} if row["time"] is not None else {"few": True}
        shown = {k: 0 if v is None and k in _NUMBERS else v for k, v in row.items()}
        rows.append(shown | {"block": block} | few)
    return rows


_NUMBERS = ("calls", "time", *(f"bytes_{way}" for way in DIRECTIONS))
_NUMBERS += tuple(f"{name}_bound" for name in _NUMBERS)
_WAITS = f"""
    SELECT coalesce(role, '') AS role, layer, op, calls, time, time_bound, estimated
    FROM ({summed("role, layer, op")}) WHERE time > 0"""
