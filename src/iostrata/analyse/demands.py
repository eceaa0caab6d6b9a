"""What attempts and hosts need of disks: the quantities that a replay shares out anew."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import DEVICES, EVENTS, PROCESSES, SUMS, THREADS, USAGE, counted_once
from iostrata.records import Bytes, EpochNs, Ns, Record

_MAIN = 1  # the first thread of a JVM
# Servers that move bytes between disks and attempts.
SERVERS = ("DataNode", "NodeManager")


class BlockWrite(Record, frozen=True):
    """Bytes that DataNodes of a host wrote for an attempt."""

    task: str
    host: str | None
    bytes: Bytes


class ServerRead(Record, frozen=True):
    """Bytes that traced servers of a role (DataNode, NodeManager) on a host fetched from disks."""

    role: str
    host: str | None
    bytes: Bytes


class DeviceMoment(Record, frozen=True):
    """Bytes that all devices of a host moved in an `interval` from `time` on, and those written."""

    host: str | None
    time: EpochNs
    interval: Ns
    moved: Bytes
    written: Bytes


class Dirtied(Record, frozen=True):
    """Bytes that processes of a host left to its disks in an `interval` from `time` on."""

    host: str | None
    time: EpochNs
    interval: Ns
    bytes: Bytes


class TaskThread(Record, frozen=True):
    """The process of an attempt, and how long the thread that does its work ran there, or waited
    for a CPU: the main thread of a process of MapReduce; of Spark, whose threads run many tasks, as
    much as the attempt had of the time of all of them. `worked` is null where it is not known.
    """

    task: str
    proc: int
    worked: Ns | None


class MapMerge(Record, frozen=True):
    """When an attempt of a map began to merge its spills."""

    task: str
    start: EpochNs


def map_merges() -> ir.Table:
    """Per attempt of a map a `MapMerge`, of those that merged."""
    rows = EVENTS.filter(EVENTS.kind == "call", EVENTS.layer == "task", EVENTS["op"] == "merge")
    rows = rows.filter(rows.role == "map", rows.task.fill_null("") != "")
    return rows.group_by("task").agg(start=rows.start.min()).order_by("task")


def block_writes() -> ir.Table:
    """Per attempt and host a `BlockWrite`."""
    rows = SUMS.filter(SUMS.layer == "datanode", SUMS["op"] == "write", counted_once(SUMS))
    rows = rows.filter(rows.task.fill_null("") != "")
    found = rows.group_by("task", "host").agg(bytes=rows.bytes.sum().fill_null(0).cast("int64"))
    return found.filter(found.bytes > 0).order_by("task", "host")


def task_threads() -> ir.Table:
    """Per attempt and process a `TaskThread`."""
    threads = THREADS.group_by("proc", "tid").agg(worked=(THREADS.cpu + THREADS.queued).sum())
    main = threads.filter(threads.tid == _MAIN)
    own = PROCESSES.filter(PROCESSES.task.fill_null("") != "", PROCESSES.proc.notnull())
    own = own.group_by("task", "proc").agg(rows=own.count()).left_join(main, "proc")
    own = own.select("task", "proc", worked=own.worked.cast("int64"))
    ran = EVENTS.filter(EVENTS.kind == "call", EVENTS.layer == "task", EVENTS["op"] == "run")
    ran = ran.filter(ran.phase.startswith("stage "), ran.task.fill_null("") != "")
    ran = ran.group_by("task", "proc", "tid").agg(dur=ran.dur.sum())
    ran = ran.mutate(whole=ran.dur.sum().over(ibis.window(group_by=["proc", "tid"])))
    ran = ran.left_join(threads, ["proc", "tid"])
    part = ran.worked.cast("float64") * ran.dur.cast("float64") / ran.whole.nullif(0)
    spark = ran.group_by("task", "proc").agg(worked=part.sum().cast("int64"))
    return own.union(spark).order_by("task", "proc")


def server_reads() -> ir.Table:
    """Per role and host a `ServerRead`."""
    rows = PROCESSES.filter(PROCESSES.role.isin(SERVERS), PROCESSES.disk_read.notnull())
    found = rows.group_by("role", "host").agg(bytes=rows.disk_read.sum().cast("int64"))
    return found.order_by("role", "host")


def device_moments() -> ir.Table:
    """Per host and second a `DeviceMoment`."""
    found = DEVICES.group_by("host", "time").agg(
        interval=DEVICES.interval.max(),
        moved=(DEVICES["read"] + DEVICES.written).sum().cast("int64"),
        written=DEVICES.written.sum().cast("int64"),
    )
    return found.order_by("host", "time")


def dirtied() -> ir.Table:
    """Per host and look at one of its processes a `Dirtied`, where there is any."""
    whose = PROCESSES.filter(PROCESSES.proc.notnull())
    whose = whose.group_by("proc").agg(of=whose.host.max())
    rows = USAGE.join(whose, "proc")
    rows = rows.filter(rows.disk_written.fill_null(0) > 0)
    found = rows.group_by("of", "time", "interval").agg(bytes=rows.disk_written.sum())
    found = found.select("time", "interval", host=found.of, bytes=found.bytes.cast("int64"))
    return found.select("host", "time", "interval", "bytes").order_by("host", "time", "interval")
