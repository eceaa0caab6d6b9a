"""What of a run is there: processes, calls, and the causes that hold them together."""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr import types as ir

from iostrata.analyse import sampled
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.orphans import Orphans, orphans
from iostrata.analyse.point_calls import UserPoint, user_points
from iostrata.analyse.processes import Process, processes
from iostrata.analyse.sample import is_drawn
from iostrata.analyse.tables import CALLS, EVENTS, PROCESSES, SUMS
from iostrata.records import Count, EpochNs, Record
from iostrata.schema.names import layer_order
from iostrata.schema.roles import SERVERS
from iostrata.store import coverage as compared
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run

_LOSSES = ("dropped", "collapsed", "lost", "rejected")


class DataNode(Record, frozen=True):
    """A DataNode that the NameNode lists; `traced`: a traced process is it."""

    name: str
    host: str
    pid: int | None
    rack: str
    traced: bool


class Coverage(Record, frozen=True, rename={"processes": "list"}):
    """Which processes were traced, of those that should have been.

    `total` counts the processes, and attempts that no process reported. `attempts` were started by
    all the run's jobs. None: nobody was asked. `unasked` says who did not answer.
    """

    total: Count
    traced: Count
    not_traced: list[Process]
    processes: list[Process]
    datanodes: list[DataNode] | None
    attempts: list[str] | None
    missing_attempts: list[str]
    unasked: list[str]

    @property
    def missing_datanodes(self) -> list[DataNode]:
        """Those that the NameNode lists and no traced process is."""
        return [node for node in self.datanodes or () if not node.traced]


class Completeness(Record, frozen=True):
    """How complete a run is.

    `incomplete` says, a line each, what of it is in no readable file. `dropped` calls are in sums
    alone, `collapsed` ones in sums without task and category, `lost` in none; `rejected` are
    segments or names that could not be made. `faulted_points` were switched off by a fault;
    `unfinished` calls were open when their process died. `user_points` are those that the recorder
    brought, `orphans` calls of HDFS servers that no traced client caused.
    """

    run: Run
    incomplete: list[str]
    processes: Coverage
    dropped: Count
    collapsed: Count
    lost: Count
    rejected: Count
    faulted_points: list[str]
    unfinished: Count
    user_points: list[UserPoint]
    orphans: list[Orphans]


class _Task(Record, frozen=True):
    task: str


class _Faulted(Record, frozen=True):
    points_faulted: str


class _Unfinished(Record, frozen=True):
    calls: Count


def completeness(opened: OpenedRun) -> Completeness:
    """How complete a run is; of a run that kept some requests, its table `sample` is there."""
    engine = DuckDb(opened)
    seen = engine.records(processes, Process)
    names = {
        name
        for row in engine.records(_faulted, _Faulted)
        for name in row.points_faulted.split(",")
        if name
    }
    (open_calls,) = engine.records(_unfinished, _Unfinished)
    drawn = is_drawn(opened)
    found = sampled.orphans(opened) if drawn else engine.records(orphans, Orphans)
    return Completeness(
        run=opened.run,
        incomplete=opened.incomplete,
        processes=coverage(opened, seen),
        **{name: sum(getattr(process, name) or 0 for process in seen) for name in _LOSSES},
        faulted_points=sorted(names),
        unfinished=open_calls.calls,
        user_points=user_points(engine, opened.run),
        orphans=sorted(found, key=lambda row: layer_order(row.layer)),
    )


def coverage(opened: OpenedRun, seen: Sequence[Process]) -> Coverage:
    """Compares the processes of a run with what its cluster listed."""
    tasks = {row.task for row in DuckDb(opened).records(_tasks_with_calls, _Task)}
    found = compared.coverage(opened.run.cluster, seen, tasks)
    nodes = found.datanodes
    datanodes = None if nodes is None else [DataNode(**vars(node)) for node in nodes]
    return Coverage(**{**vars(found), "datanodes": datanodes})


def _tasks_with_calls() -> ir.Table:
    """Tasks that have sums: an attempt inside its ApplicationMaster (uber mode) has rows, but no
    process of its own. Those of servers name the attempts that they worked for, traced or not.
    """
    rows = SUMS.filter(SUMS.task.notnull(), ~SUMS.role.fill_null("").isin(SERVERS))
    return rows.select("task").distinct()


def _faulted() -> ir.Table:
    return PROCESSES.filter(PROCESSES.points_faulted != "").select("points_faulted")


def _unfinished() -> ir.Table:
    """How many calls were open when their process died: of one that was killed its own is, too."""
    rows = EVENTS.filter(EVENTS.kind == "unfinished", EVENTS["op"] != "process")
    return rows.agg(calls=rows.count())


class Losses(Record, frozen=True):
    """Processes of a role on a host, and their calls: in sums, recorded individually (`detail`),
    and those that were `dropped` and so on, as `Process` has them.
    """

    host: str
    role: str
    processes: Count
    traced: Count
    killed: Count
    calls: Count
    detail: Count
    dropped: Count
    collapsed: Count
    lost: Count
    rejected: Count


class Gaps(Record, frozen=True):
    """Where a process dropped calls, because a ring was full."""

    host: str | None
    role: str | None
    proc: int | None
    gaps: Count
    calls: Count
    first: EpochNs
    last: EpochNs


class Causes(Record, frozen=True):
    """How calls that were recorded individually hang together.

    Of these, the process itself is the cause of `roots`, a call of the same process of those that
    are `within`, one of another process of those `across`; of those `missing` the cause is not in
    the run: its process is not traced, or it was dropped.
    """

    layer: str
    role: str
    calls: Count
    roots: Count
    within: Count
    across: Count
    missing: Count


def losses() -> ir.Table:
    """`Losses` per host and role."""
    rows = PROCESSES.mutate(host=PROCESSES.host.fill_null(""), role=PROCESSES.role.fill_null(""))
    found = rows.group_by("host", "role").agg(
        processes=rows.count(),
        traced=rows.count(where=rows.traced),
        killed=rows.count(where=rows["exit"] == "killed"),
        **{
            name: rows[name].sum().fill_null(0).cast("int64")
            for name in ("calls", "detail", *_LOSSES)
        },
    )
    return found.order_by("host", "role")


def gaps() -> ir.Table:
    """`Gaps` of each process, most calls first."""
    rows = EVENTS.filter(EVENTS.kind == "gap")
    found = rows.group_by("host", "role", "proc").agg(
        gaps=rows.count(),
        calls=rows.bytes.sum().fill_null(0).cast("int64"),
        first=rows.start.min(),
        last=(rows.start + rows.dur.fill_null(0)).max(),
    )
    return found.order_by(ibis.desc("calls"), "host", "proc")


def causes() -> ir.Table:
    """`Causes` per layer and role."""
    spans = EVENTS.filter(EVENTS.kind.isin(["call", "begin", "unfinished"]), EVENTS.span.notnull())
    spans = spans.select(cause_proc=spans.proc, cause=spans.span).distinct()
    rows = CALLS.select(
        "layer",
        "proc",
        "parent",
        role=CALLS.role.fill_null(""),
        of=CALLS.parent_proc.fill_null(CALLS.proc),
    )
    rows = rows.left_join(spans, [rows.of == spans.cause_proc, rows.parent == spans.cause])
    root, known = rows.parent.isnull(), rows.cause.notnull()
    own = rows.of == rows.proc
    found = rows.group_by("layer", "role").agg(
        calls=rows.count(),
        roots=rows.count(where=root),
        within=rows.count(where=~root & known & own),
        across=rows.count(where=~root & known & ~own),
        missing=rows.count(where=~root & ~known),
    )
    return found.order_by("layer", "role")
