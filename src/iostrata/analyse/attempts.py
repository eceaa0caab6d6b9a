"""Attempts of tasks: when each ran, what it spilled, merged and fetched; stragglers among them.

An attempt of MapReduce is a process; one of Spark is a call in a thread of an executor, which has
many.
"""

from __future__ import annotations

from collections.abc import Iterable

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import quotient
from iostrata.analyse.tables import EVENTS, PROCESSES, SUMS, counted_once, in_hdfs
from iostrata.records import Bytes, Count, EpochNs, Ns, Record

# What attempts of one role differ in: bytes.
_SKEWED = ("fetched", "read", "written")
# Attempts that do the same with other data.
_ALIKE = ("job", "role", "stage")


class Attempt(Record, frozen=True):
    """An attempt of a task: what it worked, spilled, merged, fetched, and moved from and to HDFS.

    `worked` is `dur`, but of a reduce only from the end of its job's last map on: until then it
    waits for maps, the longer the earlier it was started. While it runs, all three are null.
    `stage` is Spark's (`stage 3.0`: the first attempt of stage 3), null elsewhere.
    """

    job: str | None
    task: str
    role: str | None
    stage: str | None
    host: str | None
    start: EpochNs | None
    end: EpochNs | None
    exit: str | None
    dur: Ns | None
    worked: Ns | None
    spills: Count
    merges: Count
    fetches: Count
    fetched: Bytes
    read: Bytes
    written: Bytes

    @property
    def is_scheduled(self) -> bool:
        """Whether it is a map, a reduce or a task of Spark, which wait for containers or slots."""
        return bool(self.stage) or self.role in ("map", "reduce")


class Straggler(Record, frozen=True):
    """The slowest attempt of a job, role and stage, and the one that has most bytes, beside the
    median.

    Times are what attempts worked, as in `Attempt`. Medians are the lower of the two in the middle;
    a skew (most over median) is null where the median is 0.
    """

    job: str | None
    role: str | None
    stage: str | None
    attempts: Count
    median: Ns
    longest: Ns
    slowest: str
    median_fetched: Bytes
    median_read: Bytes
    median_written: Bytes
    most_fetched: Bytes
    most_read: Bytes
    most_written: Bytes
    skew: float | None
    skew_fetched: float | None
    skew_read: float | None
    skew_written: float | None


def most_at_once(times: Iterable[tuple[int, int]]) -> int:
    """The most of what began and ended so that was there at the same time."""
    edges = sorted(edge for start, end in times
                   for edge in ((start, 1), (max(end, start + 1), -1)))  # fmt: skip
    running = most = 0
    for _, change in edges:
        running += change
        most = max(most, running)
    return most


def attempts() -> ir.Table:
    """Each traced `Attempt`, in order of start."""
    joined = _processes().union(_of_spark()).join(_work(), "task", how="left")
    counted = {
        name: joined[name].fill_null(0) for name in ("spills", "merges", "fetches", *_SKEWED)
    }
    of_job = ibis.window(group_by="job")
    is_map, is_reduce = joined.role == "map", joined.role == "reduce"
    maps_end = joined.end.max(where=is_map).over(of_job)
    from_then = ibis.greatest(joined.start, ibis.least(maps_end, joined.end))
    begin = ibis.ifelse(is_reduce & maps_end.notnull(), from_then, joined.start)
    joined = joined.select(
        *("job", "task", "role", "stage", "host", "start", "end", "exit"),
        dur=joined.end - joined.start,
        worked=joined.end - begin,
        **counted,
    )
    return joined.order_by("start", "task")


def _processes() -> ir.Table:
    ran = PROCESSES.filter(PROCESSES.task.notnull(), PROCESSES.task != "")
    return ran.group_by("job", "task").agg(
        role=ran.role.min(),
        stage=ibis.null("string"),
        host=ran.host.min(),
        start=ran.start.min(),
        end=ran.end.max(),
        exit=ran["exit"].max(),
    )


def _of_spark() -> ir.Table:
    """Calls of `task.run` that have a stage; one that was open when its process died was killed."""
    kinds = EVENTS.kind.isin(["call", "unfinished"])
    ran = EVENTS.filter(kinds, EVENTS.layer == "task", EVENTS["op"] == "run")
    ran = ran.filter(ran.phase.startswith("stage "), ran.task.notnull(), ran.task != "")
    return ran.group_by("job", "task").agg(
        role=ran.role.min(),
        stage=ran.phase.min(),
        host=ran.host.min(),
        start=ran.start.min(),
        end=(ran.start + ran.dur.fill_null(0)).max(),
        exit=ibis.ifelse(ran.kind.min() == "call", "ended", "killed"),
    )


def _work() -> ir.Table:
    rows = SUMS.filter(
        SUMS.layer.isin(["task", "hdfs", "fs"]), SUMS.task.notnull(), counted_once(SUMS)
    )
    name = rows.layer + "." + rows["op"]
    # of MapReduce it is around `copy`, and counts the same bytes
    of_spark = (name == "task.fetch") & rows.phase.fill_null("").startswith("stage ")

    def calls(op: str) -> ir.IntegerScalar:
        return rows["count"].sum(where=name == op).fill_null(0).cast("int64")

    def moved(where: ir.BooleanValue) -> ir.IntegerScalar:
        return rows.bytes.sum(where=where).fill_null(0).cast("int64")

    return rows.group_by("task").agg(
        spills=calls("task.spill"),
        merges=calls("task.merge"),
        fetches=calls("task.fetch"),
        fetched=moved(name.isin(["task.copy", "task.local_block"]) | of_spark),
        read=moved(name.isin(["hdfs.read", "hdfs.read_vectored"])),
        written=moved((name == "fs.write") & in_hdfs(rows)),
    )


def stragglers() -> ir.Table:
    """Per job, role and stage a `Straggler`, of the attempts that have ended."""
    rows = attempts()
    rows = rows.filter(rows.dur.notnull())
    whole = ibis.window(group_by=_ALIKE)
    rows = rows.mutate(attempts=rows.task.count().over(whole))
    rows = rows.mutate(
        middle=quotient(rows.attempts - 1, 2),
        **{f"place_{name}": _place(rows, name) for name in ("worked", *_SKEWED)},
    )
    grouped = rows.group_by(*_ALIKE).agg(
        attempts=rows.attempts.max(),
        median=rows.worked.max(where=rows.place_worked == rows.middle),
        longest=rows.worked.max(),
        slowest=rows.task.max(where=rows.place_worked == rows.attempts - 1),
        **{
            f"median_{name}": rows[name].max(where=rows[f"place_{name}"] == rows.middle)
            for name in _SKEWED
        },
        **{f"most_{name}": rows[name].max() for name in _SKEWED},
    )
    return grouped.mutate(
        skew=grouped.longest / grouped.median.nullif(0),
        **{
            f"skew_{name}": grouped[f"most_{name}"] / grouped[f"median_{name}"].nullif(0)
            for name in _SKEWED
        },
    ).order_by(*_ALIKE)


def _place(rows: ir.Table, name: str) -> ir.IntegerValue:
    """Which of its job, role and stage an attempt is, from 0, by what it has of `name`."""
    window = ibis.window(group_by=_ALIKE, order_by=[rows[name], rows.task])
    return ibis.row_number().over(window)
