"""Changes of a cluster or of settings, as they change what a replay is made of.

A change is one function here, and one of Hadoop's settings has a line in `SETTINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from statistics import median

import msgspec

from iostrata.errors import UserError
from iostrata.replay.jobs import AttemptPart, HostDisk, JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.layout import (
    hosts_of,
    with_even_reduces,
    with_fewer_maps,
    with_nodes,
    with_reduces,
    with_splits,
)
from iostrata.text import bytes_of, percent, plural
from iostrata.text import size as size_text

SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"
REPLICATION = "dfs.replication"
REDUCES = "mapreduce.job.reduces"
SPLITS = tuple(f"mapreduce.input.fileinputformat.split.{end}size" for end in ("min", "max"))
EXECUTORS, EXECUTOR_CORES = "spark.executor.instances", "spark.executor.cores"
LIMITS = {
    "mapreduce.job.running.map.limit": "map",
    "mapreduce.job.running.reduce.limit": "reduce",
}


@dataclass(frozen=True)
class Alternative:
    """A change that was asked for. `apply` raises UserError where the run says too little for it;
    `says` and `assumes`: half sentences.
    """

    says: str
    assumes: str
    apply: Callable[[RecordedJobs], RecordedJobs]


def faster_disks(text: str) -> Alternative:
    """`2x`: the disks of all hosts move so many times the bytes a second; raises UserError."""
    factor = _positive(text.removesuffix("x"), "--faster-disk", "2x, or 0.5x for a slower one")

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if not recorded.cluster.disks:
            raise UserError(
                "no disk held this run back, so how fast its disks are is not known",
                "record it where they do",
            )
        return msgspec.structs.replace(recorded, cluster=recorded.cluster.with_disks(factor))

    return Alternative(
        f"disks {factor:g} times as fast",
        "the kernel lets as many dirty bytes wait for the disks",
        apply,
    )


def even_disks() -> Alternative:
    """The disks of each host are at least as fast as those of the usual one."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        disks = recorded.cluster.disks
        if len(disks) < 2:
            raise UserError("fewer than two hosts have disks that hold them back", "none is slow")
        usual = median(disk.rate for disk in disks.values())
        even = {host: HostDisk(max(disk.rate, usual), disk.room) for host, disk in disks.items()}
        return _with_cluster(recorded, disks=even)

    return Alternative("disks as fast as the usual one", "nothing else slows them down", apply)


def containers(number: int) -> Alternative:
    """So many attempts at once."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        return msgspec.structs.replace(recorded, cluster=recorded.cluster.with_containers(number))

    return Alternative(
        f"{plural(number, 'container')} at once",
        "attempts begin in the order in which they began, on the same hosts",
        apply,
    )


def cores(number: int) -> Alternative:
    """Each machine has so many."""

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        return _with_cluster(recorded, cores=dict.fromkeys(recorded.cluster.cores, float(number)))

    return Alternative(f"{plural(number, 'core')} in each machine", "nobody else needs them", apply)


def nodes(number: int) -> Alternative:
    """So many nodes like those of the run."""
    return Alternative(
        f"{plural(number, 'node')}",
        "nodes are alike, attempts go to them in turn, and maps find their input as near as before",
        partial(with_nodes, number=number),
    )


def split_size(name: str, text: str) -> Alternative:
    """Each map reads about so many bytes."""
    size = bytes_of(text)
    if not size:
        raise UserError(f"{name} {text!r} is no size", "for example 128MiB")
    return Alternative(
        f"maps of {size_text(size)}",
        "what a map does grows with what it reads; it spills and merges as often for each byte",
        partial(with_splits, size=size),
    )


def reduces(text: str) -> Alternative:
    """So many reduces."""
    number = _whole(text, REDUCES)
    return Alternative(
        plural(number, "reduce"),
        "reduces share keys and bytes evenly",
        partial(with_reduces, number=number),
    )


def even_reduces() -> Alternative:
    """Reduces have as much to do as each other."""
    return Alternative("reduces with as much to do", "keys can be spread evenly", with_even_reduces)


def only_of(jobs: Iterable[str], change: Alternative) -> Alternative:
    """A change of some jobs of MapReduce alone; none is named: of all."""
    names = {name for name in jobs if name}

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        some = tuple(job for job in recorded.jobs if not names or job.name in names)
        found = change.apply(msgspec.structs.replace(recorded, jobs=some))
        by_name = {job.name: job for job in found.jobs}
        whole = tuple(by_name.get(job.name, job) for job in recorded.jobs)
        return msgspec.structs.replace(found, jobs=whole)

    return Alternative(change.says, change.assumes, apply)


def fewer_maps(together: int) -> Alternative:
    """A map for what so many of them did."""
    return Alternative(
        f"a map for what {together} did",
        "what a map does grows with what it reads; it spills and merges as often for each byte",
        partial(with_fewer_maps, together=together),
    )


def setting(text: str) -> Alternative:
    """`NAME=VALUE`, of a setting of Hadoop that can be replayed; raises UserError."""
    name, _, value = text.partition("=")
    if name not in SETTINGS:
        raise UserError(
            f"--set {text!r}: cannot be replayed", f"what can: {', '.join(sorted(SETTINGS))}"
        )
    return SETTINGS[name](value)


def replication(text: str) -> Alternative:
    """So many copies of each block that the jobs write."""
    copies = _whole(text, REPLICATION)

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if recorded.copies is None:
            raise UserError("the run wrote nothing to HDFS", "replication would change nothing")
        every = hosts_of(recorded)
        if copies > len(every):
            raise UserError(
                f"{copies} copies need as many DataNodes; {len(every)} took part in the run",
                "ask for fewer",
            )
        before = recorded.copies

        def change(_: ReplayedJob, one: JobAttempt) -> JobAttempt:
            parts = (
                msgspec.structs.replace(part, hdfs=_copied(part, one.host, before, copies, every))
                for part in one.parts
            )
            return msgspec.structs.replace(one, parts=tuple(parts))

        return recorded.with_attempts(change)

    return Alternative(
        "one copy of each block" if copies == 1 else f"{copies} copies of each block",
        "the first copy stays on the host of its attempt, others are spread evenly",
        apply,
    )


def slow_start(text: str) -> Alternative:
    """Reduces begin when this part of the maps is done."""
    part = _positive(text, SLOW_START, "a part of 1 such as 0.8", least=0.0)
    if part > 1:
        raise UserError(f"{SLOW_START} {text!r} is more than 1", "give a part of 1, such as 0.8")

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if not any(one.role == "reduce" for one in recorded.attempts):
            raise UserError("the run has no reduces", f"{SLOW_START} would change nothing")
        jobs = tuple(_slowly(job, max(1, math.ceil(part * job.maps))) for job in recorded.jobs)
        return msgspec.structs.replace(recorded, jobs=jobs)

    return Alternative(
        f"reduces after {percent(part)} of the maps",
        "a reduce gets its container as long after that as it did",
        apply,
    )


def _slowly(job: ReplayedJob, maps: int) -> ReplayedJob:
    """With reduces that begin after so many maps; those that waited for more of them still do."""
    sooner = max(0, job.slow_start - maps)

    def change(one: JobAttempt) -> JobAttempt:
        return msgspec.structs.replace(one, after=max(0, one.after - sooner))

    attempts = tuple(change(one) if one.role == "reduce" else one for one in job.attempts)
    return msgspec.structs.replace(job, slow_start=maps, attempts=attempts)


def limited(name: str, text: str) -> Alternative:
    """So many attempts of a role at once."""
    number, role = _whole(text, name), LIMITS[name]

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if not any(one.role == role for one in recorded.attempts):
            raise UserError(f"the run has no {role}s", f"{name} would change nothing")
        limits = {**recorded.cluster.limits, role: number}
        return _with_cluster(recorded, limits=limits)

    return Alternative(
        f"{plural(number, role)} at once",
        "attempts begin in the order in which they began, on the same hosts",
        apply,
    )


def executors(name: str, text: str) -> Alternative:
    """So many executors of Spark, or so many slots of each."""
    number = _whole(text, name)

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        cluster = recorded.cluster
        if not cluster.executors:
            raise UserError("the run has no executors of Spark", f"{name} would change nothing")
        each = cluster.containers / cluster.executors
        slots = number * (cluster.executors if name == EXECUTOR_CORES else each)
        changed_ = cluster.with_containers(max(1, round(slots)))
        if name == EXECUTORS:
            changed_ = msgspec.structs.replace(changed_, executors=number)
        return msgspec.structs.replace(recorded, cluster=changed_)

    of_each = " of each executor" if name == EXECUTOR_CORES else ""
    return Alternative(
        plural(number, "slot" if of_each else "executor") + of_each,
        "tasks stay on their hosts, are as many, and need as much as they did",
        apply,
    )


SETTINGS: dict[str, Callable[[str], Alternative]] = {
    REPLICATION: replication,
    SLOW_START: slow_start,
    REDUCES: reduces,
    **{name: partial(limited, name) for name in LIMITS},
    **{name: partial(executors, name) for name in (EXECUTORS, EXECUTOR_CORES)},
    **{name: partial(split_size, name) for name in SPLITS},
}


def changed(recorded: RecordedJobs, changes: Iterable[Alternative]) -> RecordedJobs:
    """With all changes, one after the other; raises UserError."""
    for change in changes:
        recorded = change.apply(recorded)
    return recorded


def _copied(
    part: AttemptPart, host: str, before: float, copies: int, every: list[str]
) -> dict[str, float]:
    """What DataNodes write for a part, with another number of copies."""
    written = sum(part.hdfs.values()) / before
    if not written:
        return {}
    own = min(part.hdfs.get(host, 0.0), written)
    others = {name: amount for name, amount in part.hdfs.items() if name != host}
    if not sum(others.values()):
        others = dict.fromkeys((name for name in every if name != host), 1.0)
    rest = written * copies - own
    whole = sum(others.values())
    found = {name: rest * amount / whole for name, amount in others.items()} if whole else {}
    if own:
        found[host] = own
    return {name: amount for name, amount in found.items() if amount > 0}


def _with_cluster(recorded: RecordedJobs, **fields: object) -> RecordedJobs:
    cluster = msgspec.structs.replace(recorded.cluster, **fields)
    return msgspec.structs.replace(recorded, cluster=cluster)


def _whole(text: str, name: str) -> int:
    number = _positive(text, name, "a whole number such as 4")
    if number != int(number):
        raise UserError(f"{name} {text!r} is no whole number", "for example 4")
    return int(number)


def _positive(text: str, name: str, example: str, least: float = 1e-9) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise UserError(f"{name} {text!r} is no number", f"for example {example}")
    return value
