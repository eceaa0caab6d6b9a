"""Expressions, records and judgements that several rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import ibis
from ibis.expr import types as ir

from iostrata.analyse import account as accounts
from iostrata.analyse.account import Account
from iostrata.analyse.attempts import attempts
from iostrata.analyse.queues import queues
from iostrata.analyse.spills import spills
from iostrata.analyse.tables import (
    CALLS,
    PROCESSES,
    SUMS,
    SYSTEM,
    counted_once,
    program_cpu,
)
from iostrata.analyse.targets import busiest
from iostrata.analyse.waiting import WAITING_OPERATIONS
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import DIRECTIONS
from iostrata.store.configuration import INPUT_FORMATS
from iostrata.text import count, seconds, shortened, size

# What a job reads and writes, not what a JVM needs to start.
DATA = ("input", "output", "hdfs", "file", "object", "hfile", "wal", "spill", "shuffle")
# Likewise, with the local files of HDFS.
FILES = (*DATA, "blk", "blk_meta", "namenode")
STAGING = "/.staging/"  # what a job is itself: its jar, its settings, its splits
# Of size classes: 1 + floor(log2(bytes)).
ONE_BYTE = 1
BELOW_4_KIB = 12
LEAST_SMALL = 1000  # calls
MAIN_THREAD = 1  # that a JVM starts with


class OfJob(Protocol):
    """A row that belongs to a job."""

    @property
    def job(self) -> str | None: ...


_J = TypeVar("_J", bound=OfJob)


def by_job(rows: Iterable[_J]) -> dict[str, list[_J]]:
    """Rows of each job: what one job waits for is no matter of the next one."""
    jobs: dict[str, list[_J]] = {}
    for row in rows:
        jobs.setdefault(row.job or "", []).append(row)
    return jobs


class OperationSum(Account, frozen=True):
    """What was done in an operation of a layer."""

    layer: str
    op: str


class SmallRequests(Record, frozen=True):
    """Small requests of a layer, with their time without waits, and how many are on HBase's files;
    requests of all sizes, and the target that is known to have had most of these, '' for none.
    """

    layer: str
    calls: Count
    bytes: Bytes
    time: Ns
    of_hbase: Count
    all_calls: Count
    all_bytes: Bytes
    target: str
    of_target: Count


class Waiting(Record, frozen=True):
    """Work that waited for its thread."""

    waits: Count
    time: Ns
    longest: Ns


class HostDisks(Record, frozen=True):
    """Disks of a host: how long the busiest one was, the time in which at least one thread of the
    host was stalled for I/O (null: its kernel does not say), bytes of all disks, and those of the
    run's traced processes; and the time of calls on local files there, of all threads.
    """

    host: str | None
    time: Ns
    busy: Ns
    stalled: Ns | None
    moved: Bytes
    own: Bytes
    calls: Ns


class MapSpills(Record, frozen=True):
    """What all maps of a job spilled and merged."""

    job: str
    spilled: Bytes
    merged: Bytes
    spills: Count
    spill_time: Ns
    merge_time: Ns


_NOTHING = OperationSum(
    calls=0, time=0, time_bound=0, estimated=False, errors=0, bytes=0,
    read=0, written=0, received=0, sent=0, layer="", op="",
)  # fmt: skip


def account(rows: ir.Table, *keys: str) -> ir.Table:
    """Sums of operations per `keys`, as `analyse.account`: calls within another operation of their
    layer count, those within the same one do not.
    """
    return accounts.account(rows, *keys, counted=counted_once)


def _machine(host: ir.StringValue) -> ir.StringValue:
    """The machine whose CPUs and disks a host uses: of a run of one machine that one, whatever
    the containers and nodes on it are called.
    """
    machines = SYSTEM.agg(machines=SYSTEM.host.nunique(), name=SYSTEM.host.max())
    only = machines.select(only=ibis.ifelse(machines.machines == 1, machines.name, None))
    return only.as_scalar().coalesce(host)


def with_own(hosts: ir.Table, **sums: tuple[str, ...]) -> ir.Table:
    """Rows of hosts, with sums of columns of the run's traced processes on each."""
    traced = PROCESSES.filter(PROCESSES.traced)
    own = traced.group_by(on=_machine(traced.host)).agg(
        **{name: sum(traced[column].fill_null(0) for column in columns).sum()
           for name, columns in sums.items()}
    )  # fmt: skip
    found = hosts.left_join(own, hosts.host == own.on).drop("on")
    return found.mutate(**{name: found[name].fill_null(0).cast("int64") for name in sums})


def host_disks(_: Workforce) -> ir.Table:
    """The `HostDisks` of each host."""
    rows = SYSTEM.filter(SYSTEM.interval > 0)
    hosts = rows.group_by("host").agg(
        time=rows.interval.sum().cast("int64"),
        busy=rows.disk_busy.sum().cast("int64"),
        stalled=rows.io_pressure.sum().cast("int64"),
        moved=(rows.disk_read + rows.disk_written).sum().cast("int64"),
    )
    files = SUMS.filter(SUMS.layer == "java", SUMS.category.isin(FILES))
    files = files.mutate(host=_machine(files.host))
    calls = accounts.account(files, "host").select(at="host", calls="time")
    found = with_own(hosts, own=("disk_read", "disk_written"))
    found = found.left_join(calls, found.host == calls.at).drop("at")
    return found.mutate(
        own=ibis.least(found.own, found.moved),
        calls=found.calls.fill_null(0),
    ).order_by("host")


def small_requests(workforce: Workforce, direction: str, least: int, most: int) -> ir.Table:
    """Per layer the `SmallRequests` of workers on data, of size classes `least` to `most`.

    A small read of a buffered stream waits for data now and then, which is not for its size: a call
    counts at the most three times the quickest of its kind, where that is known.
    """
    rows = workforce.rows()
    rows = rows.filter(
        rows.layer.isin(["fs", "hdfs", "java", "posix"]),
        rows["op"].isin(DIRECTIONS[direction]),
        rows.category.isin(DATA),
        counted_once(rows),
    )
    weight = rows.weight.fill_null(rows.timed)
    mean = (rows.timed_dur / weight.nullif(0)).fill_null(0.0)
    timed = weight * ibis.least(mean, ibis.coalesce(3.0 * rows["min"], mean))
    kinds = rows.group_by("layer", "op", "point", "size_class").agg(
        calls=rows["count"].sum(),
        bytes=rows.bytes.sum().fill_null(0),
        weight=weight.sum(),
        timed=timed.sum(),
        of_hbase=rows["count"].sum(where=rows.category.isin(["wal", "hfile"])).fill_null(0),
    )
    time = (kinds.timed * kinds.calls / kinds.weight.nullif(0)).fill_null(0.0).floor()
    small = (kinds.size_class >= least) & (kinds.size_class <= most)
    grouped = kinds.group_by("layer").agg(
        calls=kinds.calls.sum(where=small).fill_null(0).cast("int64"),
        bytes=kinds.bytes.sum(where=small).fill_null(0).cast("int64"),
        time=time.sum(where=small).fill_null(0).cast("int64"),
        of_hbase=kinds.of_hbase.sum(where=small).fill_null(0).cast("int64"),
        all_calls=kinds.calls.sum().cast("int64"),
        all_bytes=kinds.bytes.sum().cast("int64"),
    )
    most_had = busiest(DIRECTIONS[direction], DATA, workforce.roles)
    most_had = most_had.rename(of_layer="layer", of_target="calls")
    both = grouped.left_join(most_had, grouped.layer == most_had.of_layer).drop("of_layer")
    both = both.mutate(target=both.target.fill_null(""), of_target=both.of_target.fill_null(0))
    return both.order_by(ibis.desc("time"), "layer")


def below_4_kib(direction: str) -> Query[SmallRequests]:
    """Requests of workers on data that are smaller than 4 KiB, but larger than a byte."""
    return Query(
        lambda workforce: small_requests(workforce, direction, ONE_BYTE + 1, BELOW_4_KIB),
        SmallRequests,
    )


def small_ones(
    rows: list[SmallRequests],
    facts: RunFacts,
    what: str,
    change: list[Change],
    of_native: Change,
    of_hbase: Sequence[Change],
) -> Judgement | None:
    """What `small_requests` says of `what`: at least LEAST_SMALL calls below 4 KiB; `of_native` is
    advice for programs that are no JVM, `of_hbase` where most are on files of HBase.
    """
    worst = rows[0] if rows else None
    if worst is None or worst.calls < LEAST_SMALL:
        return None
    mean = worst.bytes // worst.calls
    has_most = worst.of_target * 2 > worst.all_calls
    on = f"; most were on {shortened(worst.target, 48)}" if has_most else ""
    hadoop = facts.kind in ("mapreduce", "spark") or worst.layer in ("fs", "hdfs")
    advice = [each for each in change if hadoop or not each.setting]
    if is_native(worst.layer, facts):
        advice = [of_native]
    return Judgement(
        share=facts.share(worst.time),
        text=f"{count(worst.calls)} {what} of {size(mean)} on average in layer "
        f"{worst.layer} took {seconds(worst.time)}{on}",
        evidence=[
            Evidence(f"{what} below 4 KiB", worst.calls, "count"),
            Evidence(f"bytes of these {what}", worst.bytes, "bytes"),
            Evidence(f"time of these {what}, without waits", worst.time, "ns"),
            Evidence(f"{what} of all sizes", worst.all_calls, "count"),
            *_on_target(worst, what),
        ],
        change=[*of_hbase] if worst.of_hbase * 2 > worst.calls else advice,
        gain=(0.7, 1.0),
    )


def is_native(layer: str, facts: RunFacts) -> bool:
    """Whether who called is no JVM: advice names no classes of Java then."""
    return facts.is_native or layer == "posix"


def _on_target(requests: SmallRequests, what: str) -> list[Evidence]:
    if not requests.target:
        return []
    return [Evidence(f"{what} on {requests.target}", requests.of_target, "count")]


def tries() -> ir.Table:
    """Attempts with their task (`repeated`): when its next attempt began, and how long that ran."""
    rows = attempts()
    # attempt_<cluster>_<job>_<type>_<task>_<number>, and of Spark <stage>_task_<task>.<number>:
    # without the number, the task
    task = rows.task.re_replace("[_.][0-9]+$", "")
    rows = rows.mutate(repeated=task, dur=rows.dur.fill_null(0))
    in_order = ibis.window(group_by="repeated", order_by="start")
    later = {f"next_{name}": rows[name].lead().over(in_order) for name in ("start", "dur")}
    return rows.mutate(**later)


def work(*operations: str) -> Query[OperationSum]:
    """What workers did, by operation."""
    return operation_sums(by_workers(*operations))


def operation_sums(*groups: Callable[[Workforce], ir.Table]) -> Query[OperationSum]:
    """What was done, by operation, in sums that `by_workers` and `by_all` select."""

    def evidence(workforce: Workforce) -> ir.Table:
        return ibis.union(*(account(rows(workforce), "layer", "op") for rows in groups)).order_by(
            "layer", "op"
        )

    return Query(evidence, OperationSum)


def by_workers(*operations: str) -> Callable[[Workforce], ir.Table]:
    """Sums of operations named `layer.op`, of workers."""
    return lambda workforce: workforce.rows(named(*operations))


def by_all(*operations: str, role: str = "") -> Callable[[Workforce], ir.Table]:
    """Likewise, of all processes, or of those that have the role."""

    def rows(_: Workforce) -> ir.Table:
        sums = named(*operations)
        return sums.filter(sums.role == role) if role else sums

    return rows


def named(*operations: str) -> ir.Table:
    """Sums of operations named `layer.op`."""
    names = [(SUMS.layer + "." + SUMS["op"]).isin(operations)]
    return SUMS.filter(*names)


def one(rows: Iterable[OperationSum], operation: str) -> OperationSum:
    """The row of an operation named `layer.op`, with zeros where there is none."""
    return next((row for row in rows if f"{row.layer}.{row.op}" == operation), _NOTHING)


def totals(rows: ir.Table, *columns: str) -> dict[str, ir.Value]:
    """The sums of columns, under their names; 0 without rows."""
    return {name: rows[name].sum().fill_null(0).cast("int64") for name in columns}


def waiting(operation: str, *roles: str) -> Query[Waiting]:
    """All work that waited for an operation named `layer.op`, in processes of these roles, or of
    all.
    """

    def evidence(_: Workforce) -> ir.Table:
        rows = queues()
        rows = rows.filter(rows.layer + "." + rows["op"] == operation)
        rows = rows.filter(rows.role.isin(roles)) if roles else rows
        return rows.agg(**totals(rows, "waits", "time"), longest=rows.longest.max().fill_null(0))

    return Query(evidence, Waiting)


def _spills_of_maps(workforce: Workforce) -> ir.Table:
    """A `MapSpills` of each job."""
    rows = spills()
    rows = rows.filter(rows.role == "map", rows.role.isin(workforce.roles))
    rows = rows.mutate(job=rows.job.fill_null(""))
    sums = [name for name in MapSpills.__struct_fields__ if name != "job"]
    return rows.group_by("job").agg(**totals(rows, *sums)).order_by("job")


def opens(workforce: Workforce) -> ir.Table:
    """Calls of workers that opened a file of HDFS, not of what their job is itself."""
    rows = workforce.rows(CALLS)
    rows = rows.filter(rows.layer == "hdfs", rows["op"] == "open", rows.error.isnull())
    return rows.filter(~rows.target.contains(STAGING))


def made_by_submitters() -> ir.Table:
    """Files of HDFS, `made`, that processes which submitted a job created beside what it is itself:
    parameters of its tasks, as many as the program wants of these.
    """
    rows = CALLS.filter(
        CALLS.layer == "hdfs", CALLS["op"] == "create", CALLS.job.fill_null("") == ""
    )
    submitters = rows.filter(rows.target.contains(STAGING)).select("proc").distinct()
    return rows.semi_join(submitters, "proc").select(made="target").distinct()


def input_format(facts: RunFacts, *jobs: str) -> tuple[str, str]:
    """The setting that names the input format of these jobs, and its class; "" if it is unknown."""
    for setting in INPUT_FORMATS:
        if known := facts.configuration(setting, *jobs):
            return setting, known
    return INPUT_FORMATS[0], ""


def is_distcp(facts: RunFacts, *jobs: str) -> bool:
    """Whether these jobs are known to be copies, which divide a list of files among their maps."""
    return input_format(facts, *jobs)[1].startswith("org.apache.hadoop.tools.")


READS = replace(work("hdfs.read"), name="reads of HDFS")
BLOCK_CACHE = Change("keep more blocks in memory", "hfile.block.cache.size")
SPILLS_OF_MAPS = Query(_spills_of_maps, MapSpills)


def idle_times(workforce: Workforce) -> ir.Table:
    """Of each process that knows what its threads did, by `proc`, ns: how long it `ran`; of it its
    program `worked` on a CPU, its threads were `queued` for one, it was in calls that it may have
    waited for (`called`), and what is left: `idle`.
    """
    ran = workforce.rows(PROCESSES)
    ran = ran.filter(ran.traced, ran.proc.notnull(), ran.cpu_jvm.notnull(), ran.end > ran.start)
    ran = ran.select("proc", "queued", ran=ran.end - ran.start, worked=program_cpu(ran))
    calls = accounts.account(_waited_for(workforce), "proc").select("proc", called="time")
    rows = ran.left_join(calls, "proc").select(
        "proc", "ran", "worked", "queued", called=calls.called.fill_null(0)
    )
    busy = rows.worked + rows.queued + rows.called
    return rows.mutate(idle=ibis.greatest(rows.ran - busy, 0))


def _waited_for(workforce: Workforce) -> ir.Table:
    """Sums of calls that a process may have waited for: all of its main thread, and those of its
    other threads that wait for no work to come.
    """
    rows = workforce.rows()
    name = rows.layer + "." + rows["op"]
    is_call = ~rows.layer.isin(["task", "jvm"]) | name.isin(WAITING_OPERATIONS)
    is_stream = (rows.layer == "java") & rows.category.isin(["pipe", "socket"])
    waits = is_stream | name.isin(WAITING_OPERATIONS)
    return rows.filter(rows.proc.notnull(), is_call, (rows.tid == MAIN_THREAD) | ~waits)
