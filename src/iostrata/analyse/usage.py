"""What processes took over time, by the kernel's account: CPU, and bytes read and written.

The agent reads the account of its process once a second; the collector keeps what was added.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.bins import spread
from iostrata.analyse.tables import PROCESSES, USAGE
from iostrata.records import Bytes, Count, Ns, Record

_MOVED = ("io_read", "io_written", "disk_read", "disk_written")


class JobUsage(Record, frozen=True):
    """What the `processes` of a job took in a bin of the time axis (from 0), its tasks,
    ApplicationMaster and client together; processes of no job are by role.

    `io_read` and `io_written` are by `read()`, `write()` and their like, children included that a
    process has waited for; `disk_read` was fetched from devices, and `disk_written` became dirty
    for them. They are null where the kernel said nothing of any of the processes.
    """

    job: str | None
    role: str | None
    bin: int
    processes: Count
    cpu: Ns
    io_read: Bytes | None
    io_written: Bytes | None
    disk_read: Bytes | None
    disk_written: Bytes | None


class AttemptUsage(Record, frozen=True):
    """Likewise of the process of an attempt of a task. Tasks of Spark have none of their own."""

    job: str | None
    task: str
    role: str | None
    bin: int
    cpu: Ns
    io_read: Bytes | None
    io_written: Bytes | None
    disk_read: Bytes | None
    disk_written: Bytes | None


class ProcessUsage(Record, frozen=True):
    """Likewise of a single process; only what a replay needs of it."""

    proc: int
    role: str | None
    host: str | None
    bin: int
    cpu: Ns
    disk_read: Bytes | None
    disk_written: Bytes | None


def job_usage(start: int, width: int) -> ir.Table:
    """The `JobUsage` of each bin of `width` ns from `start` (ns since the epoch) in which a process
    was looked at. What a process took between two looks is spread over that time evenly, in whole
    bytes and ns, so that the bins add up to its total.
    """
    rows = _spread(start, width)
    of_job = rows.job.fill_null("") != ""
    rows = rows.mutate(
        job=ibis.ifelse(of_job, rows.job, ibis.null("string")),
        role=ibis.ifelse(of_job, ibis.null("string"), rows.role),
    )
    found = rows.group_by("job", "role", "bin").agg(processes=rows.proc.nunique(), **_sums(rows))
    return found.order_by("job", "role", "bin")


def attempt_usage(start: int, width: int) -> ir.Table:
    """Likewise the `AttemptUsage` of each bin, of those whose process is theirs alone."""
    rows = _spread(start, width)
    rows = rows.filter(rows.task.notnull(), rows.task != "")
    return rows.group_by("job", "task", "role", "bin").agg(**_sums(rows)).order_by("task", "bin")


def process_usage(start: int, width: int) -> ir.Table:
    """Likewise the `ProcessUsage` of each bin, of all processes."""
    rows = _spread(start, width)
    sums = {name: value for name, value in _sums(rows).items() if not name.startswith("io_")}
    return rows.group_by("proc", "role", "host", "bin").agg(**sums).order_by("proc", "bin")


def _spread(start: int, width: int) -> ir.Table:
    whose = PROCESSES.filter(PROCESSES.proc.notnull())
    whose = whose.group_by("proc").agg(
        **{name: whose[name].max() for name in ("job", "task", "role", "host")}
    )
    rows = USAGE.join(whose, "proc")
    zero = ibis.literal(0, "int64")
    begin, until = rows.time - start, rows.time + rows.interval - start
    rows = rows.select(
        *("proc", "job", "task", "role", "host", "cpu", *_MOVED),
        begin=ibis.greatest(begin, zero),
        until=ibis.greatest(until, zero),
    )
    return spread(rows, width, "cpu", *_MOVED)


def _sums(rows: ir.Table) -> dict[str, ir.IntegerScalar]:
    return {name: rows[name].sum().cast("int64") for name in ("cpu", *_MOVED)}
