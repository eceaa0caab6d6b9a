"""The shape of a report's document: JSON, its schema and `report/src/document.ts` are made of it.

Names are as they were recorded, so whoever shows them must escape them.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import field

from iostrata.analyse.axis import Axis, Series
from iostrata.analyse.calltree.critical import PathPart, PathStage, PathTime
from iostrata.analyse.calltree.trees import CallNode
from iostrata.analyse.categories import Category
from iostrata.analyse.only_summed import WithoutTarget
from iostrata.analyse.parts import PartFiles
from iostrata.analyse.ranks import RankFiles
from iostrata.analyse.totals import LayerTotal, OperationTotal
from iostrata.explain.finding import Finding
from iostrata.explain.verdict import Verdict
from iostrata.records import Bytes, Count, EpochNs, Ns, Rate, Record, Share
from iostrata.replay.choices import Choices

VERSION = 2
_T = TypeVar("_T")


class Bounded(Record, Generic[_T], frozen=True):
    """The first rows of a list, and how many more there were."""

    rows: list[_T]
    more: Count


class Recording(Record, frozen=True):
    """The run; times are 0 where they are not known."""

    name: str
    state: str
    exit: int | None
    start: EpochNs
    end: EpochNs
    host: str
    user: str
    events: Count
    bytes: Bytes
    message: str
    command: str
    tags: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it


class ReportLosses(Record, frozen=True):
    """Calls that are in totals only, without task and category, or in no total."""

    dropped: Count
    collapsed: Count
    lost: Count
    rejected: Count


class ReportProcess(Record, frozen=True):
    """A process that was traced, or should have been; null where nothing is known."""

    role: str | None
    pid: int | None
    host: str | None
    job: str | None
    task: str | None
    exit: str | None
    calls: Count | None
    detail: Count | None
    dropped: Count | None
    collapsed: Count | None
    lost: Count | None
    rejected: Count | None


class ReportCompleteness(Record, frozen=True):
    """How much of the run was traced: `lines` are the first of the summary, word by word."""

    lines: list[str]
    more_lines: Count
    incomplete: list[str]
    traced: Count
    total: Count
    silent_layers: list[str]
    unasked_layers: list[str]
    unfinished: Count
    faulted_points: list[str]
    losses: ReportLosses
    processes: Bounded[ReportProcess]


class TimeSpent(Record, frozen=True):
    """Time that threads of processes of a role spent in an operation, waiting included."""

    role: str
    layer: str
    op: str
    calls: Count
    time: Ns
    time_bound: Ns
    estimated: bool


class TaskPhase(Record, frozen=True):
    """A phase of a task."""

    phase: str
    start: EpochNs
    end: EpochNs
    time: Ns


class TaskLayer(Record, frozen=True):
    """What a layer did for a task, on its own host and on the DataNodes."""

    layer: str
    calls: Count
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes
    time: Ns


class Task(Record, frozen=True):
    """A task, or what a job did outside of its tasks (without task); null: it was not traced.

    `time` is that of all its threads in calls, `in_io` how long any of them was in I/O, of calls
    that were recorded individually (null: there was none).
    """

    job: str
    task: str
    role: str | None
    host: str | None
    start: EpochNs | None
    end: EpochNs | None
    exit: str | None
    time: Ns
    phases: list[TaskPhase]
    layers: list[TaskLayer]
    in_io: Ns | None = None


class Step(Record, frozen=True):
    """A step of the bytes: null where nothing was counted, which is not 0."""

    title: str
    layer: str
    bytes: Bytes | None
    factor: float | None


class Flow(Record, frozen=True):
    """From what applications asked for down to the disks."""

    direction: str
    steps: list[Step]


class RequestSizes(Record, frozen=True):
    """Calls of an operation by the classes of `ReportDocument.size_classes`."""

    layer: str
    op: str
    calls: list[Count]


class ReportTarget(Record, frozen=True, omit_defaults=True):
    """A file, block or peer. Ids of blocks have more bits than a number of the page: they are text.

    Where only some requests were recorded, numbers are `estimated`, each within its bound for 95 of
    100; where too few were, `few` says that the numbers mean nothing.
    """

    layer: str
    category: str | None
    target: str
    block: str | None
    calls: Count
    time: Ns
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes
    estimated: bool = False
    few: bool = False
    calls_bound: Count = 0
    time_bound: Ns = 0
    bytes_read_bound: Bytes = 0
    bytes_written_bound: Bytes = 0
    bytes_received_bound: Bytes = 0
    bytes_sent_bound: Bytes = 0


class HostSizes(Record, frozen=True):
    """What a host has; null where it is not known."""

    mem_total: Bytes | None
    space_total: Bytes | None


class Histories(Record, frozen=True):
    """Values for each bin of the axis, null without a sample: shares, rates and levels."""

    cpu_user: list[Share | None]
    cpu_system: list[Share | None]
    cpu_iowait: list[Share | None]
    disk_busy: list[Share | None]
    cpu_pressure: list[Share | None]
    memory_pressure: list[Share | None]
    io_pressure: list[Share | None]
    disk_read: list[Rate | None]
    disk_written: list[Rate | None]
    net_received: list[Rate | None]
    net_sent: list[Rate | None]
    net_loopback: list[Rate | None]
    mem_used: list[Bytes | None]
    space_used: list[Bytes | None]


class Host(Record, frozen=True):
    """What a host did as a whole, other programs included."""

    host: str
    totals: HostSizes
    values: Histories


class Hosts(Record, frozen=True):
    """`missing` says why there are none."""

    missing: str
    hosts: list[Host]
    more: Count


class UsageCurve(Record, frozen=True):
    """What the processes of a job, or of an attempt of its tasks, took in bins of the axis from
    `first` on, null where none of them was looked at; processes of no job are by role.

    `cpu`: how many cores they kept busy on average. Rates are by the kernel's account: all that
    they read and wrote, and what of it was fetched from devices or became dirty for them.
    """

    job: str | None
    task: str | None
    role: str | None
    first: Count
    cpu: list[float | None]
    io_read: list[Rate | None]
    io_written: list[Rate | None]
    disk_read: list[Rate | None]
    disk_written: list[Rate | None]


class SpaceCurve(Record, frozen=True):
    """Bytes that are there of the files of a job, at the end of bins of the axis from `first` on:
    of `temporary` files, which are deleted later or go with the job by their kind, and of the rest.
    """

    job: str | None
    role: str | None
    first: Count
    temporary: list[Bytes]
    permanent: list[Bytes]


class Usage(Record, frozen=True):
    """Jobs and attempts that took most CPU, and the `space` of jobs that used most; `missing` says
    why there are no curves of CPU and I/O.
    """

    missing: str
    jobs: Bounded[UsageCurve]
    attempts: Bounded[UsageCurve]
    space: Bounded[SpaceCurve] = field(default_factory=lambda: Bounded([], 0))


class Critical(Record, frozen=True):
    """The chain of calls that the end of the job waited for; `more`: the shortest parts."""

    wall: Ns
    parts: list[PathPart]
    by_function: list[PathTime]
    more: Count
    by_stage: list[PathStage] = field(default_factory=list)


class AccessStream(Record, frozen=True):
    """What one process read from, or wrote to, one file or block (0: none), of the requests that
    were recorded individually: their access pattern (`analyse.patterns`), the only `task` that made
    them, and `points`: ms since the begin of the axis and offset in bytes, of at most some 200.
    """

    host: str | None
    layer: str
    direction: str
    target: str
    block: int
    pattern: str
    requests: Count
    bytes: Bytes
    size: Bytes
    stride: Bytes | None
    again: Count
    points: list[list[int]]
    task: str | None = None


class MergedClass(Record, frozen=True):
    """Bytes in requests of at least `size` bytes and less than twice that, as the requests were,
    and once those that follow each other were merged.
    """

    size: Bytes
    before: Bytes
    after: Bytes


class MergedSizes(Record, frozen=True):
    """Requests of a layer that were recorded individually, with their place: how many there were,
    how many are left when those that follow each other are merged (`analyse.merged`), and sizes.
    """

    layer: str
    direction: str
    requests: Count
    merged: Count
    bytes: Bytes
    classes: list[MergedClass]


class RankActivity(RankFiles, frozen=True):
    """A rank of a parallel program, with the bytes that it read from files and wrote to them in
    each bin of the axis, up to the last one with any.
    """

    moved: list[Bytes]


class PartActivity(PartFiles, frozen=True):
    """A program that the command of the run ran beside others, with the bytes of files that it read
    and wrote in each bin of the axis, up to the last one.
    """

    moved: list[Bytes]


class ServerActivity(Record, frozen=True):
    """Likewise the servers of a host, which work for all of them."""

    host: str
    moved: list[Bytes]


class Programs(Record, frozen=True):
    """Programs beside each other, and their servers."""

    parts: Bounded[PartActivity]
    servers: Bounded[ServerActivity]


class ReportDocument(Record, frozen=True):
    """Every number that a report's page shows; it leaves out what is null. `empty` says why there
    is nothing to show.
    """

    version: int
    iostrata: str
    run: Recording
    completeness: ReportCompleteness
    empty: str
    layers: list[LayerTotal]
    ops: list[OperationTotal]
    axis: Axis
    series: list[Series]
    system: Hosts
    tasks: Bounded[Task]
    flow: list[Flow]
    categories: Bounded[Category]
    size_classes: list[str]
    sizes: list[RequestSizes]
    targets: Bounded[ReportTarget]
    time_spent: Bounded[TimeSpent]
    verdict: Verdict | None
    findings: list[Finding] | None
    tree: list[CallNode] | None
    critical: Critical | None
    lost_datanodes: list[str] = field(default_factory=list)  # lines of the summary, word by word
    without_target: list[WithoutTarget] = field(default_factory=list)
    merged: list[MergedSizes] = field(default_factory=list)
    streams: Bounded[AccessStream] = field(default_factory=lambda: Bounded([], 0))
    usage: Usage | None = None
    ranks: Bounded[RankActivity] = field(default_factory=lambda: Bounded([], 0))
    programs: Programs | None = None
    what_if: Choices | None = None
