"""What the way between processes needs to know of a run: processes, tasks of Spark, marks."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.calltree.way import Application, Marks, PathProcess, PathTask
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.tables import CALLS, EVENTS, PROCESSES, program_cpu
from iostrata.records import EpochNs, Ns, Record
from iostrata.schema.roles import SERVERS

_REQUESTS = r"\.(submitApplication|startContainers|registerAppl\w+)$"


class _Mark(Record, frozen=True):
    proc: int | None
    host: str | None
    op: str
    target: str
    start: EpochNs
    dur: Ns


class _WorkedFor(Record, frozen=True):
    """When the first call of a process for a job began."""

    proc: int
    host: str
    role: str
    job: str
    first: EpochNs


def path_processes(engine: DuckDb, offsets: dict[str, int]) -> list[PathProcess]:
    """By start, on the clock of the reference host; `offsets`: ns to add, by host."""
    rows = engine.records(_processes, PathProcess)
    return [process.shifted(offsets.get(process.host, 0)) for process in rows]


def _processes() -> ir.Table:
    """Processes in order of their start.

    One that was killed, or runs on, ended with its last event as far as is known.
    """
    is_task = (EVENTS.kind == "call") & (EVENTS.layer == "task") & (EVENTS["op"] == "run")
    last = EVENTS.group_by("proc").agg(
        last=(EVENTS.start + EVENTS.dur.fill_null(0)).max(),
        done=(EVENTS.start + EVENTS.dur).max(where=is_task),
    )
    texts = {name: PROCESSES[name].fill_null("") for name in ("role", "host", "job", "task")}
    rows = PROCESSES.filter(PROCESSES.traced, PROCESSES.proc.notnull(), PROCESSES.start.notnull())
    worked = program_cpu(rows) + rows.queued
    rows = rows.select("proc", "start", ended=PROCESSES.end, worked=worked, **texts)
    rows = rows.filter(rows.role.notin(SERVERS)).join(last, "proc", how="left")
    rows = rows.mutate(end=ibis.coalesce(rows.ended, rows.last))
    rows = rows.mutate(done=ibis.least(ibis.coalesce(rows.done, rows.end), rows.end))
    rows = rows.filter(rows.end > rows.start)
    return rows.select(*PathProcess.__struct_fields__).order_by("start", "proc")


def _marked() -> ir.Table:
    """Calls that say how processes waited for each other, in order of their start."""
    target = CALLS.target.fill_null("")
    of_task = (CALLS.layer == "task") & CALLS["op"].isin(["accept", "shuffle", "setup_job"])
    is_request = (CALLS.layer == "rpc") & (CALLS["op"] == "call") & target.re_search(_REQUESTS)
    rows = CALLS.filter(of_task | is_request)
    return rows.select(
        "proc",
        "host",
        "op",
        "start",
        target=rows.target.fill_null(""),
        dur=rows.dur.fill_null(0),
    ).order_by("start")


def path_marks(engine: DuckDb, offsets: dict[str, int]) -> Marks:
    """The marks of a run; `offsets` as in `path_processes`."""
    marks = Marks({}, {}, {}, {}, {}, _drivers(engine, offsets))
    for row in engine.records(_marked, _Mark):
        start = row.start + offsets.get(row.host or "", 0)
        end = start + row.dur
        if row.op == "accept":
            marks.outputs.setdefault(row.proc, []).append((end, row.target))
        elif row.op == "shuffle":
            marks.shuffles[row.proc] = start
        elif row.target.endswith(".submitApplication"):
            marks.submits.setdefault(row.proc, []).append(end)
        elif row.target.endswith(".startContainers"):
            marks.starts.setdefault(row.proc, []).append(start)
        else:
            marks.ready.setdefault(row.proc, []).append(end)
    return marks


def _drivers(engine: DuckDb, offsets: dict[str, int]) -> dict[int, list[Application]]:
    """The applications of Spark by the process of their driver.

    That is a client which had calls for it, else its ApplicationMaster. Where neither is traced,
    each executor is taken for the driver of its own tasks.
    """
    tasks: dict[str, list[PathTask]] = {}
    for row in engine.records(_tasks, PathTask):
        tasks.setdefault(row.job, []).append(row.shifted(offsets.get(row.host, 0)))
    drivers: dict[int, list[Application]] = {}
    found: set[str] = set()
    for one in engine.records(_worked_for, _WorkedFor) if tasks else []:
        own = tasks.get(one.job, [])
        if one.role == "executor":
            own = [] if one.job in found else [task for task in own if task.proc == one.proc]
        if own and (one.role == "executor" or one.job not in found):
            found.update({one.job} if one.role != "executor" else ())
            connected = one.first + offsets.get(one.host, 0)
            own.sort(key=lambda task: (task.end, task.task))
            drivers.setdefault(one.proc, []).append(Application(one.job, connected, own))
    return drivers


def _tasks() -> ir.Table:
    is_run = (CALLS.layer == "task") & (CALLS["op"] == "run") & CALLS.phase.startswith("stage ")
    rows = CALLS.filter(is_run, CALLS.task.notnull(), CALLS.job.notnull(), CALLS.dur > 0)
    return rows.select(
        "proc",
        "span",
        "job",
        "task",
        "start",
        host=rows.host.fill_null(""),
        stage=rows.phase,
        end=rows.start + rows.dur,
    )


def _worked_for() -> ir.Table:
    """Clients before masters, and these before executors."""
    rows = CALLS.filter(CALLS.job.notnull(), CALLS.proc.notnull(), CALLS.role.notin(SERVERS))
    found = rows.group_by("proc", "job").agg(
        host=rows.host.min().fill_null(""),
        role=rows.role.min().fill_null(""),
        first=rows.start.min(),
    )
    place = ibis.cases((found.role == "executor", 2), (found.role == "appmaster", 1), else_=0)
    return found.order_by(place, "first", "proc")
