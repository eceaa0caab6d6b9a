"""The document of a report: every number that its page shows, and nothing else.

Aggregates, and places of some requests, within `bounds.py`: a run of a million tasks makes a
document of the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from iostrata.analyse.amplification import Amplification, amplification
from iostrata.analyse.attempts import Attempt, attempts
from iostrata.analyse.axis import Axis, axis_of, grown_within, series
from iostrata.analyse.calltree.critical import by_operation, critical_path
from iostrata.analyse.calltree.native import call_trees
from iostrata.analyse.calltree.trees import call_tree
from iostrata.analyse.categories import Category, categories
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.hosts import HostBin
from iostrata.analyse.hosts import hosts as host_bins
from iostrata.analyse.overlap import Overlap, overlap
from iostrata.analyse.parts import PartBin, part_bins
from iostrata.analyse.phases import Phase, phases
from iostrata.analyse.ranks import RankBin, rank_bins
from iostrata.analyse.space import space_levels
from iostrata.analyse.summary import SIZES, SUMMARY_STEPS, Sizes, Summary, summary
from iostrata.analyse.targets import Target
from iostrata.analyse.totals import RoleTotal, by_role
from iostrata.analyse.usage import AttemptUsage, JobUsage, attempt_usage, job_usage
from iostrata.explain.rank import RULE_STEPS
from iostrata.explain.verdict import explanation
from iostrata.progress import Progress, silent
from iostrata.records import Record, builtins
from iostrata.replay.choices import WHAT_IF
from iostrata.replay.fitted import Replays, replays_of
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.names import layer_order
from iostrata.show.completeness import completeness_lines
from iostrata.show.pipelines import lost_lines
from iostrata.show.report.bounds import MOST_TARGETS, fitted
from iostrata.show.report.flow import flow
from iostrata.show.report.hosts import hosts
from iostrata.show.report.merging import merged_sizes
from iostrata.show.report.model import (
    VERSION,
    Bounded,
    Critical,
    Hosts,
    Programs,
    RankActivity,
    Recording,
    ReportCompleteness,
    ReportDocument,
    ReportLosses,
    ReportProcess,
    ReportTarget,
    RequestSizes,
    TimeSpent,
    Usage,
)
from iostrata.show.report.programs import programs
from iostrata.show.report.ranks import ranks
from iostrata.show.report.streams import streams
from iostrata.show.report.tasks import tasks
from iostrata.show.report.usage import usage
from iostrata.show.report.what_if import what_if
from iostrata.show.summary import picture, reason_empty, untraced_lines
from iostrata.store.opened import OpenedRun
from iostrata.version import __version__

STEPS = (
    *(*SUMMARY_STEPS, "time line", "tasks", "flow", "access patterns"),
    *(*RULE_STEPS, "call tree", "critical path", WHAT_IF),
)
_R = TypeVar("_R")


def document(opened: OpenedRun, step: Progress = silent) -> ReportDocument:
    """The document of a run; says each of STEPS."""
    replays = replays_of(opened)
    whole = _explained(_whole(opened, step), opened, step, replays)
    return fitted(msgspec.structs.replace(whole, what_if=what_if(replays, step)))


def _whole(opened: OpenedRun, step: Progress) -> ReportDocument:
    engine = DuckDb(opened)
    known = summary(opened, MOST_TARGETS + 1, step)
    step("time line")
    axis = axis_of(opened)
    lines, system = series(opened, axis), _hosts(opened, axis)
    step("tasks")
    ran = engine.records(attempts, Attempt)
    parts, in_io = engine.records(phases, Phase), engine.records(overlap, Overlap)
    all_tasks = tasks(known.tasks, ran, parts, in_io)
    step("flow")
    steps = flow(engine.records(amplification, Amplification))
    kinds = engine.records(categories, Category)
    spent = engine.records(by_role, RoleTotal)
    step("access patterns")
    spent.sort(key=lambda row: (-row.time, layer_order(row.layer)))
    return ReportDocument(
        version=VERSION,
        iostrata=__version__,
        run=_run(known),
        completeness=_completeness(known),
        empty="" if known.layers else reason_empty(known),
        layers=known.layers,
        ops=known.ops,
        axis=axis,
        series=sorted(lines, key=lambda row: layer_order(row.layer)),
        system=system,
        tasks=Bounded(all_tasks, 0),
        flow=steps,
        categories=Bounded(kinds, 0),
        size_classes=list(SIZES),
        sizes=[_sizes(row) for row in known.sizes],
        targets=Bounded([_target(row) for row in known.targets], 0),
        time_spent=Bounded(_converted(spent, TimeSpent), 0),
        verdict=None,
        findings=None,
        tree=None,
        critical=None,
        lost_datanodes=lost_lines(known.lost_datanodes, known.run.start),
        without_target=known.without_target,
        merged=merged_sizes(engine),
        streams=streams(engine, axis),
        usage=_usage(opened, axis),
        ranks=_ranks(opened, known, axis),
        programs=_programs(opened, known, axis),
    )


def _explained(
    whole: ReportDocument, opened: OpenedRun, step: Progress, replays: Replays
) -> ReportDocument:
    """With verdict, findings, call tree and critical path; what is absent the page leaves out."""
    said = explanation(opened, step, replays)
    whole = msgspec.structs.replace(whole, verdict=said.verdict, findings=said.findings)
    trees = call_trees(opened, progress=step)
    tree = call_tree(opened, trees)
    if not tree:
        return whole
    path = critical_path(opened, trees, step)
    critical = Critical(path.wall, path.parts, by_operation(path), 0, path.by_stage)
    return msgspec.structs.replace(whole, tree=tree, critical=critical)


def _hosts(opened: OpenedRun, axis: Axis) -> Hosts:
    samples = DuckDb(opened).records(host_bins(axis.start, axis.bin), HostBin)
    return hosts(samples, axis, sampled=bool(opened.files["system"]))


def _usage(opened: OpenedRun, axis: Axis) -> Usage:
    engine = DuckDb(opened)
    of_jobs = engine.records(job_usage(axis.start, axis.bin), JobUsage)
    of_attempts = engine.records(attempt_usage(axis.start, axis.bin), AttemptUsage)
    spaces = space_levels(engine)
    return usage(of_jobs, of_attempts, spaces, axis, recorded=bool(opened.files["usage"]))


def _ranks(opened: OpenedRun, known: Summary, axis: Axis) -> Bounded[RankActivity]:
    if not known.ranks:
        return Bounded([], 0)
    bins = rank_bins(axis.start, axis.bin, grown_within(opened))
    return ranks(known.ranks, DuckDb(opened).records(bins, RankBin), axis)


def _programs(opened: OpenedRun, known: Summary, axis: Axis) -> Programs | None:
    if not known.parts:
        return None
    bins = part_bins(axis.start, axis.bin, grown_within(opened))
    return programs(known.parts, DuckDb(opened).records(bins, PartBin), axis)


def _converted(rows: Sequence[Record], kind: type[_R]) -> list[_R]:
    """Records that have more fields than those of the page."""
    return [msgspec.convert(row, kind, from_attributes=True) for row in rows]


def _run(known: Summary) -> Recording:
    facts = builtins(known.run) | {"command": known.run.label}
    return Recording(**{name: facts[name] for name in Recording.__struct_fields__})


def _completeness(known: Summary) -> ReportCompleteness:
    names = ReportLosses.__struct_fields__
    covered = known.processes
    worst = sorted(
        covered.processes, key=lambda one: -sum(getattr(one, name) or 0 for name in names)
    )
    first, *more = completeness_lines(picture(known))
    return ReportCompleteness(
        lines=[first, *untraced_lines(known), *more],
        more_lines=0,
        incomplete=known.incomplete,
        traced=covered.traced,
        total=covered.total,
        silent_layers=known.silent_layers,
        unasked_layers=known.unasked_layers,
        unfinished=known.unfinished,
        faulted_points=known.faulted_points,
        losses=ReportLosses(**{name: getattr(known, name) for name in names}),
        processes=Bounded(_converted(worst, ReportProcess), 0),
    )


def _sizes(row: Sizes) -> RequestSizes:
    return RequestSizes(row.layer, row.op, list(row.counts().values()))


def _target(row: Target) -> ReportTarget:
    block = None if row.block is None else str(row.block)
    known = builtins(row)
    shown = known | {name: known[name] or 0 for name in _NUMBERS}
    return msgspec.convert(shown | {"block": block, "few": row.time is None}, ReportTarget)


_NUMBERS = ("calls", "time", *BYTES_COLUMN.values())
