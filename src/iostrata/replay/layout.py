"""Changes of how many nodes a cluster has, and of how many maps and reduces a job has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median

import msgspec

from iostrata.errors import UserError
from iostrata.replay.jobs import (
    START,
    AttemptPart,
    HostDisk,
    JobAttempt,
    RecordedJobs,
    ReplayedJob,
    SharedCluster,
)


def with_nodes(recorded: RecordedJobs, number: int) -> RecordedJobs:
    """On so many nodes, which have as much of all as those of the run; attempts go to them in turn.

    What an attempt had of its own host it has of its own; what it had of others, of all others
    alike. HDFS keeps no more copies than there are nodes.
    """
    before = hosts_of(recorded)
    if number == len(before):
        return recorded
    after = [*before[:number], *(f"node {n + 1}" for n in range(len(before), number))]
    copies = recorded.copies or 1.0
    kept = min(copies, number) / copies

    jobs = tuple(
        msgspec.structs.replace(
            job,
            attempts=tuple(
                moved(one, after[place % number], after, kept)
                for place, one in enumerate(job.attempts)
            ),
        )
        for job in recorded.jobs
    )
    cluster = _with_hosts(recorded.cluster, before, after)
    fewer = recorded.copies and recorded.copies * kept
    return msgspec.structs.replace(recorded, jobs=jobs, cluster=cluster, copies=fewer)


def hosts_of(recorded: RecordedJobs) -> list[str]:
    """All that ran attempts or wrote blocks."""
    attempts = recorded.attempts
    found = {one.host for one in attempts}
    return sorted(found.union(*(part.hdfs for one in attempts for part in one.parts)))


def moved(one: JobAttempt, host: str, hosts: list[str], kept: float = 1.0) -> JobAttempt:
    """An attempt on another host of `hosts`; HDFS keeps so much of its copies."""
    parts = tuple(
        msgspec.structs.replace(
            part,
            hdfs=_spread(part.hdfs, one.host, host, hosts, kept),
            read=_spread(part.read, one.host, host, hosts, 1.0),
            came=_spread(part.came, one.host, host, hosts, 1.0),
        )
        for part in one.parts
    )
    return msgspec.structs.replace(one, host=host, parts=parts)


def _spread(
    amounts: Mapping[str, float], own: str, host: str, hosts: list[str], kept: float
) -> dict[str, float]:
    """Bytes by host of an attempt that was on `own` and is on `host`; `kept`: of all of them."""
    whole = sum(amounts.values()) * kept
    if not whole:
        return {}
    here = min(amounts.get(own, 0.0), whole)
    others = [name for name in hosts if name != host]
    if not others:
        return {host: whole}
    found = {name: (whole - here) / len(others) for name in others}
    return {name: amount for name, amount in {**found, host: here}.items() if amount > 0}


def _with_hosts(cluster: SharedCluster, before: list[str], after: list[str]) -> SharedCluster:
    machines = {host: cluster.machines[host] for host in after if host in cluster.machines}
    cores, disks = dict(cluster.cores), dict(cluster.disks)
    shared = len(set(cluster.machines.values())) == 1 < len(before)
    for host in after:
        if host not in machines:
            machines[host] = next(iter(cluster.machines.values())) if shared else host
            cores.setdefault(machines[host], median(cluster.cores.values()))
            if disks:
                rates = (disk.rate for disk in cluster.disks.values())
                rooms = (disk.room for disk in cluster.disks.values())
                disks[host] = HostDisk(median(rates), median(rooms))
    slots = {}
    if cluster.slots:
        usual = math.ceil(median(cluster.slots.values()))
        slots = {host: cluster.slots.get(host, usual) for host in after}
    return SharedCluster(
        machines=machines,
        cores={name: cores[name] for name in set(machines.values())},
        disks={host: disk for host, disk in disks.items() if host in machines},
        containers=max(1, math.ceil(cluster.containers * len(after) / len(before))),
        limits=cluster.limits,
        slots=slots,
        executors=math.ceil(cluster.executors * len(after) / len(before)),
        link=cluster.link,
        room=dict.fromkeys(machines, max(cluster.room.values(), default=0)) if cluster.room else {},
    )


def with_splits(recorded: RecordedJobs, size: int) -> RecordedJobs:
    """Each map reads about `size` bytes: some maps become one, or one some; raises UserError where
    maps read nothing from HDFS.
    """
    if not any(job.maps for job in recorded.jobs):
        raise UserError(
            "the run has no maps", "what changes is how much each map of MapReduce reads"
        )
    jobs = tuple(_split(job, size) for job in recorded.jobs)
    return msgspec.structs.replace(recorded, jobs=jobs)


def with_reduces(recorded: RecordedJobs, number: int) -> RecordedJobs:
    """Each job that has reduces has so many, which share their work evenly; raises UserError where
    none has. New ones are like the old ones in turn, on the hosts behind theirs, and begin as late
    as attempts usually do.
    """
    if not any(one.role == "reduce" for one in recorded.attempts):
        raise UserError("the run has no reduces", "their number would change nothing")
    hosts = hosts_of(recorded)
    jobs = tuple(_reduced(job, number, hosts) for job in recorded.jobs)
    return msgspec.structs.replace(recorded, jobs=jobs)


def _reduced(job: ReplayedJob, number: int, hosts: list[str]) -> ReplayedJob:
    before = [one for one in job.attempts if one.role == "reduce"]
    if not before:
        return job
    usual = median(one.lag for one in job.attempts)
    after = []
    for place in range(number):
        again, like = place // len(before), before[place % len(before)]
        host = hosts[(hosts.index(like.host) + again) % len(hosts)]
        one = moved(_with_work(like, len(before) / number), host, hosts)
        if again:
            one = msgspec.structs.replace(
                one, task=f"{like.task} part {again + 1}", lag=usual, usual=""
            )
        after.append(one)
    kept = {one.task for one in after}
    by_task = {one.task: one for one in after}
    found = [by_task.get(one.task, one) for one in job.attempts
             if one.role != "reduce" or one.task in kept]  # fmt: skip
    return msgspec.structs.replace(job, attempts=(*found, *after[len(before) :]))


def with_even_reduces(recorded: RecordedJobs) -> RecordedJobs:
    """All reduces of a job have as much to do; raises UserError where no job has some."""
    if not any(one.role == "reduce" for one in recorded.attempts):
        raise UserError("the run has no reduces", "even keys would change nothing")
    jobs = tuple(_evened(job) for job in recorded.jobs)
    return msgspec.structs.replace(recorded, jobs=jobs)


def _evened(job: ReplayedJob) -> ReplayedJob:
    work = {one.task: sum(part.length for part in one.parts if _grows(part))
            for one in job.attempts if one.role == "reduce"}  # fmt: skip
    usual = sum(work.values()) / max(1, len(work))
    attempts = tuple(
        _with_work(one, usual / work[one.task]) if work.get(one.task) else one
        for one in job.attempts
    )
    return msgspec.structs.replace(job, attempts=attempts)


def _with_work(one: JobAttempt, factor: float) -> JobAttempt:
    """An attempt with so many times as much to do; it starts as it did."""
    parts = tuple(part.scaled(factor) if _grows(part) else part for part in one.parts)
    return msgspec.structs.replace(one, parts=parts)


def _grows(part: AttemptPart) -> bool:
    """Whether a part takes longer with more to do; one that gathers waits for maps."""
    return part.name != START and not part.gathers


def _split(job: ReplayedJob, size: int) -> ReplayedJob:
    reads = [one.read for one in job.attempts if one.role == "map"]
    usual = median(reads) if reads else 0
    if not usual:
        raise UserError(
            f"maps of job {job.name} read nothing from HDFS", "their number is not that of splits"
        )
    return _with_maps(job, max(1, round(size / usual)), max(1, round(usual / size)))


def with_fewer_maps(recorded: RecordedJobs, together: int) -> RecordedJobs:
    """As many maps as `together` become one; raises UserError where no job has maps."""
    if not any(job.maps for job in recorded.jobs):
        raise UserError("the run has no maps", "their number would change nothing")
    jobs = tuple(_with_maps(job, together, 1) if job.maps else job for job in recorded.jobs)
    return msgspec.structs.replace(recorded, jobs=jobs)


def _with_maps(job: ReplayedJob, together: int, pieces: int) -> ReplayedJob:
    """Each `together` maps become one, or each map so many `pieces`."""
    maps = [one for one in job.attempts if one.role == "map"]
    groups = [maps[at : at + together] for at in range(0, len(maps), together)]
    joined = {group[0].task: _joined(group) for group in groups}
    number = len(joined) * pieces
    slow_start = max(min(1, job.slow_start), round(job.slow_start * number / len(maps)))
    found: list[JobAttempt] = []
    for one in job.attempts:
        if one.role != "map":
            after = round(one.after * number / len(maps))
            found.append(msgspec.structs.replace(one, after=max(min(1, one.after), after)))
        elif one.task in joined:
            found += _cut(joined[one.task], pieces)
    return msgspec.structs.replace(job, attempts=tuple(found), slow_start=slow_start)


def _joined(maps: list[JobAttempt]) -> JobAttempt:
    """One map that does the work of several, phase by phase; it starts once."""
    first = maps[0]
    parts = [part for part in first.parts if part.name == START]
    for name in dict.fromkeys(part.name for part in first.parts):
        if name != START:
            parts += (each for one in maps for each in one.parts if each.name == name)
    return msgspec.structs.replace(first, parts=tuple(parts), read=sum(one.read for one in maps))


def _cut(one: JobAttempt, pieces: int) -> list[JobAttempt]:
    """Some maps that do the work of one; each of them starts."""
    parts = tuple(part if part.name == START else part.scaled(1 / pieces) for part in one.parts)
    names = [one.task, *(f"{one.task} part {number + 1}" for number in range(1, pieces))]
    read = one.read // pieces
    return [msgspec.structs.replace(one, task=name, parts=parts, read=read) for name in names]
