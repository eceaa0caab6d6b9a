"""The document of a report: every number that its page shows, and nothing else.

Aggregates only, within `bounds.py`: a run of a million tasks makes a document of the same size.
"""

from __future__ import annotations

import msgspec

from iostrata.analyse.amplification import Amplification, amplification
from iostrata.analyse.attempts import Attempt, attempts
from iostrata.analyse.axis import Axis, axis_of, series
from iostrata.analyse.calltree.critical import by_operation, critical_path
from iostrata.analyse.calltree.native import call_trees
from iostrata.analyse.calltree.trees import call_tree
from iostrata.analyse.categories import Category, categories
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.hosts import HostBin
from iostrata.analyse.hosts import hosts as host_bins
from iostrata.analyse.phases import Phase, phases
from iostrata.explain.rank import RULE_STEPS
from iostrata.explain.verdict import explanation
from iostrata.progress import Progress, silent
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.events import LAYER
from iostrata.show.report.bounds import MOST_TARGETS, fitted
from iostrata.show.report.flow import flow
from iostrata.show.report.hosts import hosts
from iostrata.show.report.model import (
    VERSION,
    Bounded,
    Completeness,
    Critical,
    Hosts,
    Layer,
    Losses,
    Operation,
    Process,
    Recording,
    ReportDocument,
    RequestSizes,
    Target,
    TimeSpent,
)
from iostrata.show.report.tasks import tasks
from iostrata.show.summary import completeness, why_empty
from iostrata.show.totals import SIZES, TOTALS_STEPS, Row, Totals, in_layer_order, summed, totals
from iostrata.store.opened import OpenedRun
from iostrata.version import __version__

STEPS = (*TOTALS_STEPS, "time line", "tasks", "flow", *RULE_STEPS, "call tree", "critical path")
_CLASSES = (*(name for name, _ in SIZES), "unknown")
_ORDER = {layer: place for place, layer in enumerate(LAYER)}


def document(opened: OpenedRun, step: Progress = silent) -> ReportDocument:
    """The document of a run; says each of STEPS."""
    return fitted(_whole(opened, step))


def _whole(opened: OpenedRun, step: Progress) -> ReportDocument:
    engine = DuckDb(opened)
    found = totals(opened, MOST_TARGETS + 1, step)
    step("time line")
    axis = axis_of(opened)
    lines, system = series(opened, axis), _hosts(opened, axis)
    step("tasks")
    ran = engine.records(attempts(), Attempt)
    all_tasks = tasks(found.tasks, ran, engine.records(phases(), Phase))
    step("flow")
    steps = flow(engine.records(amplification(), Amplification))
    kinds = engine.records(categories(), Category)
    spent = sorted(in_layer_order(opened.rows(_TIME_SPENT)), key=lambda row: -row["time"])
    whole = ReportDocument(
        version=VERSION,
        iostrata=__version__,
        run=_run(found),
        completeness=_completeness(found),
        empty="" if found.layers else why_empty(found),
        layers=msgspec.convert(found.layers, list[Layer]),
        ops=msgspec.convert(found.ops, list[Operation]),
        axis=axis,
        series=sorted(lines, key=lambda row: _ORDER.get(row.layer, len(_ORDER))),
        system=system,
        tasks=Bounded(all_tasks, 0),
        flow=steps,
        categories=Bounded(kinds, 0),
        size_classes=list(_CLASSES),
        sizes=[_sizes(row) for row in found.sizes],
        targets=Bounded([_target(row) for row in found.targets], 0),
        time_spent=Bounded(msgspec.convert(spent, list[TimeSpent]), 0),
        verdict=None,
        findings=None,
        tree=None,
        critical=None,
    )
    return _explained(whole, opened, step)


def _explained(whole: ReportDocument, opened: OpenedRun, step: Progress) -> ReportDocument:
    """With verdict, findings, call tree and critical path; what is absent the page leaves out."""
    said = explanation(opened, step)
    whole = msgspec.structs.replace(whole, verdict=said.verdict, findings=said.findings)
    trees = call_trees(opened, progress=step)
    tree = call_tree(opened, trees)
    if not tree:
        return whole
    path = critical_path(opened, trees, step)
    critical = Critical(path.wall, path.parts, by_operation(path), 0)
    return msgspec.structs.replace(whole, tree=tree, critical=critical)


def _hosts(opened: OpenedRun, axis: Axis) -> Hosts:
    samples = DuckDb(opened).records(host_bins(axis.start, axis.bin), HostBin)
    return hosts(samples, axis, sampled=bool(opened.files["system"]))


def _run(found: Totals) -> Recording:
    facts = found.run.as_dict() | {"command": " ".join(found.run.command)}
    return Recording(**{name: facts[name] for name in Recording.__struct_fields__})


def _completeness(found: Totals) -> Completeness:
    names = Losses.__struct_fields__
    worst = sorted(found.processes, key=lambda row: -sum(row[name] or 0 for name in names))
    fields = Process.__struct_fields__
    return Completeness(
        lines=completeness(found),
        more_lines=0,
        incomplete=found.incomplete,
        traced=found.traced,
        total=found.coverage.total,
        silent_layers=found.silent_layers,
        absent_layers=found.absent_layers,
        unfinished=found.unfinished,
        faulted_points=found.faulted,
        losses=Losses(**{name: getattr(found, name) for name in names}),
        processes=Bounded([Process(**{name: row[name] for name in fields}) for row in worst], 0),
    )


def _sizes(row: Row) -> RequestSizes:
    return RequestSizes(row["layer"], row["op"], [row[name] for name in _CLASSES])


def _target(row: Row) -> Target:
    block = None if row["block"] is None else str(row["block"])
    shown = {name: 0 if row[name] is None and name in _NUMBERS else row[name] for name in row}
    return msgspec.convert(shown | {"block": block, "few": row["time"] is None}, Target)


_NUMBERS = {"calls", "time", *BYTES_COLUMN.values()}
_NUMBERS |= {f"{name}_bound" for name in _NUMBERS}
_TIME_SPENT = f"""
    SELECT coalesce(role, '') AS role, layer, op, calls, time, time_bound, estimated
    FROM ({summed("role, layer, op")}) WHERE time > 0"""
