"""How long each attempt waited for I/O, and how long it did something else."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.tables import CALLS, PROCESSES
from iostrata.records import Count, EpochNs, Ns, Record, Share
from iostrata.schema.roles import SERVERS

# A thread in a call of these moves data, or asks for it. Tasks, records and phases are what I/O is
# done for: they take as long as the attempt.
IO_LAYERS = ("fs", "hdfs", "rpc", "java", "posix")


class Stretch(Record, frozen=True):
    """A time in which at least one thread of a process was in I/O."""

    host: str | None
    proc: int | None
    stretch: int
    start: EpochNs
    end: EpochNs
    calls: Count


class Overlap(Record, frozen=True):
    """How long any thread of an attempt was in I/O, the longest stretch of it, and its share."""

    job: str | None
    task: str
    role: str | None
    host: str | None
    start: EpochNs
    dur: Ns
    in_io: Ns
    longest_io: Ns
    share: Share


def busy() -> ir.Table:
    """Each `Stretch`, of calls of IO_LAYERS that were recorded individually. They do not touch each
    other.
    """
    return stretches(_in_io(), ["host", "proc"])


def _in_io() -> ir.Table:
    rows = CALLS.filter(CALLS.layer.isin(IO_LAYERS), CALLS.dur.notnull())
    end = rows.start + rows.dur
    return rows.select("host", "proc", "role", "task", "phase", "start", end=end)


def stretches(rows: ir.Table, whose: list[str]) -> ir.Table:
    """The times that calls of the same host, process, … cover together."""
    order = [rows.start, rows.end]
    before = ibis.window(group_by=whose, order_by=order, preceding=(None, 1))
    rows = rows.mutate(until=rows.end.max().over(before))
    begins = rows.until.isnull() | (rows.start > rows.until)
    rows = rows.mutate(begins=begins.cast("int64"))
    sofar = ibis.cumulative_window(group_by=whose, order_by=[rows.start, rows.end])
    rows = rows.mutate(stretch=rows.begins.sum().over(sofar).cast("int64"))
    return rows.group_by(*whose, "stretch").agg(
        start=rows.start.min(), end=rows.end.max(), calls=rows.count()
    )


def _of_processes() -> ir.Table:
    """Of attempts that are a process: whatever it does is done for the attempt."""
    stretches = busy()
    whose = PROCESSES.filter(PROCESSES.task.notnull(), PROCESSES.task != "")
    joined = stretches.join(whose.select("host", "proc", "task"), ["host", "proc"], how="inner")
    return joined.select("task", "start", "end")


def _of_threads() -> ir.Table:
    """Of attempts that share a process, as those of Spark: what it does with their names."""
    rows = _in_io()
    rows = rows.filter(rows.phase.startswith("stage "), rows.task.notnull(), rows.task != "")
    rows = rows.filter(~rows.role.fill_null("").isin(SERVERS))  # they name the task that they serve
    return stretches(rows, ["host", "proc", "task"]).select("task", "start", "end")


def overlap() -> ir.Table:
    """Per attempt that has ended an `Overlap`, in order of start."""
    stretches = _of_processes().union(_of_threads())
    length = stretches.end - stretches.start
    per_task = stretches.group_by("task").agg(
        in_io=length.sum().cast("int64"), longest_io=length.max()
    )
    ran = attempts()
    joined = ran.filter(ran.dur > 0).join(per_task, "task", how="left")
    in_io = joined.in_io.fill_null(0)
    return joined.select(
        "job",
        "task",
        "role",
        "host",
        "start",
        "dur",
        in_io=in_io,
        longest_io=joined.longest_io.fill_null(0),
        share=in_io / joined.dur,
    ).order_by("start", "task")
