"""What a replay replays: jobs, their attempts, and what each part of an attempt needs.

Times are seconds from the begin of the run; docs/decisions/0041-a-job-as-flows.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import msgspec

from iostrata.records import Bytes, Count, Record, Share

# Parts: before the first phase of an attempt, and a phase; of the last one of a map, from when it
# merges its spills.
START, SHUFFLE, MERGE = "start", "shuffle", "merge"
# The role, and the only part, of an attempt of Spark.
TASK = "task"


class AttemptPart(Record, frozen=True):
    """A stretch of an attempt, from one phase to the next, and what it needs.

    `cpu`: core seconds; `cores`: it can use that many at once; `dirtied`: bytes that it leaves to
    the disk of its own host; `hdfs`: bytes that DataNodes write for it, by host; `read`: bytes that
    have to come from a disk, by host; `came`: bytes that servers sent for it, by their host;
    `length`: as recorded. `gathers`: it overlaps with maps that
    it waits for, so its length says nothing; the part behind it begins when all maps are done.

    Fitted: `kept`: seconds in which it needs none of these; `weight`: its share of a busy CPU,
    beside those of others; `drag`: disks take so many times as long for its bytes.
    """

    name: str
    start: float
    length: float
    cpu: float
    cores: float
    dirtied: float
    hdfs: Mapping[str, float]
    read: Mapping[str, float]
    kept: float = 0.0
    weight: float = 1.0
    drag: float = 1.0
    gathers: bool = False
    came: Mapping[str, float] = {}

    def written(self, host: str) -> dict[str, float]:
        """What disks have to write of it, in bytes, by host; its own one is `host`."""
        found = {name: amount * self.drag for name, amount in self.hdfs.items()}
        if self.dirtied:
            found[host] = found.get(host, 0.0) + self.dirtied * self.drag
        return found

    def fetched(self) -> dict[str, float]:
        """What disks have to read for it, in bytes, by host."""
        return {host: amount * self.drag for host, amount in self.read.items()}

    def received(self, host: str) -> dict[str, float]:
        """What hosts receive over the network for it, in bytes, by host; its own one is `host`."""
        found = {name: amount for name, amount in self.hdfs.items() if name != host}
        away = sum(amount for name, amount in self.came.items() if name != host)
        return {**found, host: away} if away else found

    def sent(self, host: str) -> dict[str, float]:
        """What hosts send over the network for it, likewise. A pipeline goes from its own host, or
        from the DataNode there, to the next DataNode, which sends it on (DFSOutputStream).
        """
        found = {name: amount for name, amount in self.came.items() if name != host}
        others = {name: amount for name, amount in self.hdfs.items() if name != host}
        if whole := sum(others.values()):
            first = min(whole, self.hdfs.get(host, max(others.values())))
            found[host] = found.get(host, 0.0) + first
            for name, amount in others.items():
                found[name] = found.get(name, 0.0) + amount * (1 - first / whole)
        return {name: amount for name, amount in found.items() if amount}

    def scaled(self, factor: float) -> AttemptPart:
        """With so much of its time and of all that it needs."""
        return msgspec.structs.replace(
            self,
            length=self.length * factor,
            cpu=self.cpu * factor,
            dirtied=self.dirtied * factor,
            hdfs={host: amount * factor for host, amount in self.hdfs.items()},
            read={host: amount * factor for host, amount in self.read.items()},
            came={host: amount * factor for host, amount in self.came.items()},
            kept=self.kept * factor,
        )


class JobAttempt(Record, frozen=True):
    """An attempt of a map, a reduce, or a task of Spark, as recorded; its parts follow each other.

    `read`: bytes that it read from HDFS; `spills`: of a map, how many it merged; `after`: maps of
    its job that were done when a reduce began, and that it waits for while others of them wait for
    containers; `lag`: what it began later than that, and than a container was free; `apart`:
    seconds from when its stage began in which a task of Spark left slots to others, since they were
    on other hosts than its input (spark.locality.wait); `usual`: of a reduce, the host that had
    most room for it when it began, empty where that is not known; `blocked`: seconds in which the
    thread that does its work neither ran nor waited for a CPU, null where that is not known.
    """

    task: str
    role: str
    host: str
    start: float
    end: float
    parts: tuple[AttemptPart, ...]
    after: Count = 0
    lag: float = 0.0
    apart: float = 0.0
    read: Bytes = 0
    spills: Count = 0
    usual: str = ""
    blocked: float | None = None


class ReplayedJob(Record, frozen=True):
    """A job of MapReduce, or a stage of Spark; attempts in the order in which they began.

    `back`: it follows the job that is so many places before it in the run, or none, where there are
    not so many; `lead`: from the end of that job, or the begin of the run, until it could ask for
    containers; `slow_start`: maps that are done before any of its reduces begins; `master`: the
    host on which its ApplicationMaster has a container, where that is known.
    """

    name: str
    lead: float
    attempts: tuple[JobAttempt, ...]
    slow_start: Count = 0
    back: Count = 1
    master: str = ""

    @property
    def maps(self) -> int:
        """How many attempts are maps."""
        return sum(one.role == "map" for one in self.attempts)


class HostDisk(Record, frozen=True):
    """The disks of a host together: bytes a second, and how many dirty bytes may wait for them
    before writers have to.
    """

    rate: float
    room: float


class SharedCluster(Record, frozen=True):
    """What jobs share.

    `machines`: of each host, the machine whose CPU it has; `cores`: of each machine, what is left
    of them for jobs; `disks`: of the hosts whose disks hold jobs back; `containers`: of tasks, at
    once; `limits`: of those of a role (map, reduce) at once; `slots`: of executors of Spark on each
    host; `executors`: how many there are; `link`: bytes a second that the network takes from each
    host, and brings to it; 0: more than is asked for; `room`: containers of MapReduce that a host
    has room for, ApplicationMasters among them, where that is known: reduces go where fewest are.
    """

    machines: Mapping[str, str]
    cores: Mapping[str, float]
    disks: Mapping[str, HostDisk]
    containers: Count
    limits: Mapping[str, Count] = {}
    slots: Mapping[str, Count] = {}
    executors: Count = 0
    link: float = 0.0
    room: Mapping[str, Count] = {}

    def with_containers(self, number: int) -> SharedCluster:
        """With so many attempts at once; each executor has as much more or fewer slots."""
        slots = {
            host: math.ceil(have * number / self.containers) for host, have in self.slots.items()
        }
        return msgspec.structs.replace(self, containers=number, slots=slots)

    def with_disks(self, rate: float, room: float = 1.0) -> SharedCluster:
        """With disks that are so many times as fast, and let so many times as much wait."""
        disks = {
            host: HostDisk(disk.rate * rate, disk.room * room) for host, disk in self.disks.items()
        }
        return msgspec.structs.replace(self, disks=disks)


class RecordedJobs(Record, frozen=True):
    """All of a run that can be replayed.

    `wall`: of the run; `tail`: from the end of the last attempt to that of the run; `copies`:
    DataNodes that wrote each byte of HDFS, null where nothing was written; `settings`: by job, as
    far as they are known.
    """

    wall: float
    tail: float
    jobs: tuple[ReplayedJob, ...]
    cluster: SharedCluster
    copies: float | None
    settings: Mapping[str, Mapping[str, str]] = {}

    @property
    def attempts(self) -> list[JobAttempt]:
        """Of all jobs."""
        return [one for job in self.jobs for one in job.attempts]

    def with_attempts(
        self, change: Callable[[ReplayedJob, JobAttempt], JobAttempt]
    ) -> RecordedJobs:
        """With each attempt as `change` makes it."""
        jobs = (
            msgspec.structs.replace(job, attempts=tuple(change(job, one) for one in job.attempts))
            for job in self.jobs
        )
        return msgspec.structs.replace(self, jobs=tuple(jobs))

    @property
    def kept(self) -> Share:
        """Of the time of all attempts, the part that neither CPU nor disks explain."""
        parts = [part for one in self.attempts for part in one.parts if not part.gathers]
        return sum(part.kept for part in parts) / (sum(part.length for part in parts) or 1.0)
