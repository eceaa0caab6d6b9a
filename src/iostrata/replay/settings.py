"""Changes of settings of Hadoop and Spark, and of how their work is divided.

A setting that can be replayed has a function here, and a line in `SETTINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from iostrata.errors import UserError
from iostrata.replay.alternative import Alternative, positive_number, whole_number, with_cluster
from iostrata.replay.jobs import MERGE, AttemptPart, JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.layout import (
    hosts_of,
    with_even_reduces,
    with_fewer_maps,
    with_reduces,
    with_splits,
)
from iostrata.text import bytes_of, percent, plural
from iostrata.text import size as size_text

SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"
REPLICATION = "dfs.replication"
REDUCES = "mapreduce.job.reduces"
SORT_BUFFER, _SORT_BUFFER = "mapreduce.task.io.sort.mb", 100  # MB by default
SPLITS = tuple(f"mapreduce.input.fileinputformat.split.{end}size" for end in ("min", "max"))
EXECUTORS, EXECUTOR_CORES = "spark.executor.instances", "spark.executor.cores"
LIMITS = {
    "mapreduce.job.running.map.limit": "map",
    "mapreduce.job.running.reduce.limit": "reduce",
}


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
    number = whole_number(text, REDUCES)
    return Alternative(
        plural(number, "reduce"),
        "reduces share keys and bytes evenly",
        partial(with_reduces, number=number),
    )


def even_reduces() -> Alternative:
    """Reduces have as much to do as each other."""
    return Alternative("reduces with as much to do", "keys can be spread evenly", with_even_reduces)


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
    copies = whole_number(text, REPLICATION)

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
    part = positive_number(text, SLOW_START, "a part of 1 such as 0.8", least=0.0)
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
    number, role = whole_number(text, name), LIMITS[name]

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        if not any(one.role == role for one in recorded.attempts):
            raise UserError(f"the run has no {role}s", f"{name} would change nothing")
        limits = {**recorded.cluster.limits, role: number}
        return with_cluster(recorded, limits=limits)

    return Alternative(
        f"{plural(number, role)} at once",
        "attempts begin in the order in which they began, on the same hosts",
        apply,
    )


def executors(name: str, text: str) -> Alternative:
    """So many executors of Spark, or so many slots of each."""
    number = whole_number(text, name)

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


def _sort_buffer(settings: Mapping[str, str]) -> int:
    """MB that a job had."""
    had = settings.get(SORT_BUFFER, "")
    return int(had) if had.isdecimal() else _SORT_BUFFER


def sort_buffer(text: str) -> Alternative:
    """So many MB in which a map sorts its output; raises UserError."""
    size = whole_number(text, SORT_BUFFER)

    def without_merge(one: JobAttempt, settings: Mapping[str, str]) -> JobAttempt:
        had = _sort_buffer(settings)
        if one.role != "map" or one.spills < 2 or size < had * one.spills:
            return one
        parts = tuple(part for part in one.parts if part.name != MERGE)
        return msgspec.structs.replace(one, parts=parts, spills=1)

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        known = recorded.settings
        buffers = [_sort_buffer(known.get(job.name, {})) for job in recorded.jobs if job.maps]
        if not any(one.spills > 1 for one in recorded.attempts):
            raise UserError(
                "no map of the run spilled more than once", f"{SORT_BUFFER} would change nothing"
            )
        if size < max(buffers):
            raise UserError(
                f"{SORT_BUFFER} {size} is less than the {max(buffers)} of the run",
                "what more merges would cost is not recorded",
            )
        return recorded.with_attempts(lambda job, one: without_merge(one, known.get(job.name, {})))

    return Alternative(
        f"sort buffers of {size} MB",
        "maps that spill once do not merge; the JVM has room for the buffer",
        apply,
    )


SETTINGS: dict[str, Callable[[str], Alternative]] = {
    REPLICATION: replication,
    SLOW_START: slow_start,
    REDUCES: reduces,
    SORT_BUFFER: sort_buffer,
    **{name: partial(limited, name) for name in LIMITS},
    **{name: partial(executors, name) for name in (EXECUTORS, EXECUTOR_CORES)},
    **{name: partial(split_size, name) for name in SPLITS},
}


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
