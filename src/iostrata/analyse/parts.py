"""Programs that one recorded command ran at the same time, each beside the others (S4.4).

The column `part` says which of them a process is of; servers, which work for all, have none.
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.over_time import SECOND, over_time
from iostrata.analyse.ranks import NO_FILES
from iostrata.analyse.tables import PROCESSES, SUMS, counted_once
from iostrata.analyse.totals import RoleTotal, totals
from iostrata.records import Bytes, Count, EpochNs, Ns, Record
from iostrata.schema.roles import STORAGE_CLIENTS

SHARED = ""  # part of what works for all of them
_BETWEEN = "\t"  # is in no name


class PartFiles(Record, frozen=True):
    """What the processes of a part did: CPU, and calls on files with their bytes and times; when
    the first of them began and the last ended, null where one goes on.

    Of a JVM these are calls of the layer `fs`, or of `java` where it has none; of other programs
    those of `posix`. Times are of all threads. Servers are the part '', without what mounts a file
    system, which reads and writes for others.
    """

    part: str
    processes: Count
    start: EpochNs | None
    end: EpochNs | None
    cpu: Ns | None
    calls: Count
    bytes_read: Bytes
    bytes_written: Bytes
    time: Ns


class PartOperation(RoleTotal, frozen=True):
    """What an operation did in processes of a role for a part, with its `calls` within others. What
    a server does for a job is its part's.
    """

    part: str


class PartBin(Record, frozen=True):
    """Bytes of files that a part read and wrote on a host in a bin of the time axis, as
    `PartFiles` has them.
    """

    part: str
    host: str
    bin: int
    read: Bytes
    written: Bytes


def part_files() -> ir.Table:
    """The `PartFiles` of a run; no rows where no process says a part."""
    rows = _on_files()
    did = account(rows, "part", counted=counted_once)
    whose = _whose()
    who = whose.group_by("part").agg(
        processes=whose.proc.nunique(),
        start=whose.start.min(),
        end=ibis.ifelse(whose.end.isnull().any(), ibis.null("int64"), whose.end.max()),
        cpu=whose.cpu.sum().cast("int64"),
    )
    found = who.left_join(did, "part")
    found = found.select(
        "part",
        *("processes", "start", "end", "cpu"),
        calls=found.calls.fill_null(0),
        bytes_read=found.read.fill_null(0),
        bytes_written=found.written.fill_null(0),
        time=found.time.fill_null(0),
    )
    return found.order_by(found.part == SHARED, "part")


def part_operations() -> ir.Table:
    """`PartOperation`s of all that took time, without calls on sockets and pipes, which wait for
    others; no rows where no process says a part.
    """
    rows = _caused_by_parts()
    rows = rows.filter(rows.category.fill_null("").notin(NO_FILES))
    rows = rows.mutate(role=rows.role.fill_null(""))
    found = totals(rows, "part", "role", "layer", "op", counted=counted_once)
    return found.filter(found.time > 0).order_by("part", ibis.desc("time"), "role", "layer", "op")


def part_bins(start: int, width: int, within: int = SECOND) -> ir.Table:
    """Each `PartBin` of an axis, as `over_time` spreads sums; those without bytes have no row."""
    rows = _on_files()
    # over_time tells layers apart: here they are parts on hosts
    rows = rows.mutate(layer=rows.part + _BETWEEN + rows.host.fill_null(""))
    bins = over_time(start, width, within, rows)
    whose = bins.layer.split(_BETWEEN)
    found = bins.select("bin", "read", "written", part=whose[0], host=whose[1])
    return found.filter(found.read + found.written > 0).order_by("part", "host", "bin")


def _whose() -> ir.Table:
    """Processes with their part, of runs in which one says any."""
    known = PROCESSES.filter(PROCESSES.proc.notnull())
    part, job = known.part.fill_null(""), known.job.fill_null("")
    marked = known.filter(part != "").count().as_scalar()
    return known.filter(marked > 0).select(
        "proc", "start", "end", "cpu", part=part, job=job, is_jvm=known.jvm.fill_null("") != ""
    )


def _of_parts() -> ir.Table:
    """Sums with the part of their process."""
    whose = _whose()
    processes = whose.group_by("proc").agg(
        part=whose.part.max(), is_jvm=whose.is_jvm.fill_null(False).any()
    )
    return SUMS.inner_join(processes, "proc")


def _caused_by_parts() -> ir.Table:
    """Likewise, but what a server does for a job is of the job's part."""
    whose, rows = _whose(), _of_parts()
    jobs = whose.filter(whose.part != "", whose.job != "")
    jobs = jobs.group_by("job").agg(of_job=jobs.part.max())
    rows = rows.left_join(jobs, "job").drop("job_right")
    return rows.mutate(part=ibis.ifelse(rows.part != "", rows.part, rows.of_job.fill_null(SHARED)))


def _on_files() -> ir.Table:
    """Of each process those in which its bytes of files are counted once. What mounts a file system
    is left out: it waits in reads of /dev/fuse.
    """
    rows = _of_parts().filter(
        lambda row: row.category.fill_null("").notin(NO_FILES),
        lambda row: row.role.fill_null("").notin(STORAGE_CLIENTS),
    )
    by_process = rows.group_by("proc").agg(has_fs=(rows.layer == "fs").any())
    rows = rows.join(by_process, "proc")
    of_jvm = ibis.ifelse(rows.has_fs, "fs", "java")
    return rows.filter(rows.layer == ibis.ifelse(rows.is_jvm, of_jvm, "posix"))
