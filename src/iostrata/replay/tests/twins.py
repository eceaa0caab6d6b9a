"""Jobs whose truth is known: what each part needs is given, and a replay says how long it took."""

from __future__ import annotations

import msgspec

from iostrata.replay.jobs import (
    AttemptPart,
    HostDisk,
    JobAttempt,
    RecordedJobs,
    ReplayedJob,
    SharedCluster,
)
from iostrata.replay.schedule import Ran, replay

MB = 1e6
HOSTS = ("one", "two")


def part(name: str = "map", **more: object) -> AttemptPart:
    """A part that needs nothing but what `more` says."""
    given: dict[str, object] = {"start": 0.0, "length": 0.0, "cpu": 0.0, "cores": 1.0}
    given |= {"dirtied": 0.0, "hdfs": {}, "read": {}}
    return msgspec.convert({"name": name, **given, **more}, AttemptPart)


def attempt(task: str, role: str, host: str, *parts: AttemptPart, **more: object) -> JobAttempt:
    """An attempt that was not recorded yet."""
    given = {"task": task, "role": role, "host": host, "start": 0.0, "end": 0.0}
    return msgspec.convert({**given, "parts": parts, **more}, JobAttempt)


def cluster(
    cores: float = 2.0, containers: int = 4, disks: dict[str, HostDisk] | None = None
) -> SharedCluster:
    """Two hosts on one machine."""
    return SharedCluster(
        dict.fromkeys(HOSTS, "machine"), {"machine": cores}, disks or {}, containers
    )


def recording(truth: RecordedJobs) -> RecordedJobs:
    """What a recorder sees of jobs: how long each part took, and what it needed of CPU and disks;
    what is not recorded (`kept`, what disks let wait) is as a reader of runs would guess it.
    """
    done = replay(truth)
    ran = {one.task: one for one in done.attempts}
    jobs = tuple(
        msgspec.structs.replace(
            job, attempts=tuple(_seen(one, ran[one.task]) for one in job.attempts)
        )
        for job in truth.jobs
    )
    disks = {
        host: HostDisk(disk.rate, disk.room * 1.5) for host, disk in truth.cluster.disks.items()
    }
    cluster = msgspec.structs.replace(truth.cluster, disks=disks)
    return RecordedJobs(done.wall, truth.tail, jobs, cluster, truth.copies)


def _seen(one: JobAttempt, ran: Ran) -> JobAttempt:
    parts = tuple(
        msgspec.structs.replace(part, start=took.since, length=took.length, kept=part.kept / 2)
        for part, took in zip(one.parts, ran.parts, strict=True)
    )
    return msgspec.structs.replace(one, start=ran.start, end=ran.end, parts=parts)


def sort(disk: float = 20 * MB, maps: int = 6, containers: int = 4) -> RecordedJobs:
    """Maps that spill, reduces that take their outputs and write two copies to HDFS."""
    attempts = [
        attempt(
            f"m{number}",
            "map",
            HOSTS[number % 2],
            part("start", cpu=1.2, kept=0.5),
            part("map", cpu=2.0 + 0.1 * number, kept=0.3),
            part("sort", cpu=0.5, dirtied=60 * MB),
            lag=0.4,
        )
        for number in range(maps)
    ]
    both = dict.fromkeys(HOSTS, 90 * MB)
    attempts += [
        attempt(
            f"r{number}",
            "reduce",
            HOSTS[number % 2],
            part("start", cpu=1.0, kept=0.5),
            part("gather", cpu=0.3, gathers=True),
            part("shuffle", cpu=0.8, dirtied=30 * MB),
            part("reduce", cpu=1.5, hdfs=both),
            after=max(1, maps // 3),
            lag=0.6,
        )
        for number in range(2)
    ]
    disks = {host: HostDisk(disk, 16 * MB) for host in HOSTS}
    job = ReplayedJob("job_1", 3.0, tuple(attempts), max(1, maps // 3))
    return RecordedJobs(0.0, 1.0, (job,), cluster(containers=containers, disks=disks), 2.0)
