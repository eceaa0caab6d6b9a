"""What single threads took, by the scheduler's account: of those that made a traced call."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, PROCESSES, THREADS
from iostrata.records import Count, Ns, Record


class ThreadGroup(Record, frozen=True):
    """Threads of processes of a role that have the same name, but for the numbers in it (`#`).

    `cpu` is CPU time of all of them together while the run was recorded, `queued` how long they
    could have run and waited for a CPU, `busiest` the CPU time of the one that had most.
    """

    role: str
    name: str
    threads: Count
    cpu: Ns
    queued: Ns
    busiest: Ns


class ThreadWork(Record, frozen=True):
    """How long a thread of a process worked, or waited for a CPU, while the run was recorded."""

    proc: int
    tid: int
    worked: Ns


def thread_groups() -> ir.Table:
    """The `ThreadGroup`s of a run, those first that had most CPU."""
    roles = PROCESSES.group_by("proc").agg(role=PROCESSES.role.max())
    threads = THREADS.group_by("proc", "tid").agg(
        name=THREADS.thread.fill_null("").max().re_replace(r"\d+", "#"),
        cpu=THREADS.cpu.sum(),
        queued=THREADS.queued.sum(),
    )
    rows = threads.left_join(roles, "proc")
    groups = rows.group_by(role=rows.role.fill_null(""), name=rows.name).agg(
        threads=rows.count(),
        cpu=rows.cpu.sum().cast("int64"),
        queued=rows.queued.sum().cast("int64"),
        busiest=rows.cpu.max().cast("int64"),
    )
    return groups.order_by(groups.cpu.desc(), "role", "name")


def thread_works() -> ir.Table:
    """The `ThreadWork` of threads whose process runs several tasks, as those of Spark do."""
    is_run = (CALLS.layer == "task") & (CALLS["op"] == "run") & CALLS.phase.startswith("stage ")
    threads = THREADS.semi_join(CALLS.filter(is_run), "proc")
    rows = threads.group_by("proc", "tid").agg(
        worked=(threads.cpu + threads.queued).sum().cast("int64")
    )
    return rows.order_by("proc", "tid")
