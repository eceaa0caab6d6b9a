"""Jobs after or beside each other: containers, slow start of reduces, and what reduces wait for.

Attempts get containers in the order in which they began when they were recorded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from iostrata.records import Record
from iostrata.replay.flows import Flows, PartFlow, Took
from iostrata.replay.jobs import JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.layout import hosts_of, moved


class Ran(Record, frozen=True):
    """When an attempt began and ended in a replay, in seconds, and what each of its parts took."""

    task: str
    role: str
    host: str
    start: float
    end: float
    parts: tuple[Took, ...]


class Replay(Record, frozen=True):
    """A replay of a run: its length, and its attempts in order of their begin."""

    wall: float
    attempts: tuple[Ran, ...]


@dataclass
class _Running:
    job: _Job
    attempt: JobAttempt
    start: float
    ended: list[Took] = field(default_factory=list)
    flow: PartFlow | None = None


def replay(recorded: RecordedJobs) -> Replay:
    """The run as its cluster and jobs say, from its begin to its end."""
    end, ran = _Schedule(recorded).run()
    return Replay(end + recorded.tail, tuple(sorted(ran, key=lambda one: one.start)))


def with_usual_hosts(recorded: RecordedJobs) -> RecordedJobs:
    """With the host that has most room for each reduce, where all are on those of the run."""
    schedule = _Schedule(recorded)
    schedule.run()
    return recorded.with_attempts(
        lambda _, one: msgspec.structs.replace(
            one, usual=schedule.roomiest[one.task] if one.role == "reduce" else ""
        )
    )


class _Job:
    """A job: what of it waits for containers, and when they are asked for. `ready`: since when it
    may ask; inf: the job that it follows has not ended.
    """

    def __init__(self, job: ReplayedJob, limits: Mapping[str, int]) -> None:
        self.queue = list(job.attempts)
        self.left = len(job.attempts)
        self.lead, self.maps, self.master = job.lead, job.maps, job.master
        self.followers: list[_Job] = []
        self.ended_maps: list[float] = []
        self.ready = math.inf
        self.allowed = {role: [0.0] * number for role, number in limits.items()}
        self._slow_start = job.slow_start
        self._no_map_waits = math.inf

    def asked(self, attempt: JobAttempt) -> float:
        """When a container was asked for; inf: not yet. Reduces: some as maps end, all others when
        no map waits for one (RMContainerAllocator.scheduleReduces).
        """
        if attempt.role != "reduce":
            return self.ready
        none_waits = self._no_map_waits if self.maps else self.ready
        more = min(self._when_done(attempt.after), none_waits)
        return max(self._when_done(self._slow_start), more)

    def take(self, attempt: JobAttempt, now: float) -> None:
        """An attempt has got its container."""
        self.queue.remove(attempt)
        if attempt.role == "map" and not self.maps_wait:
            self._no_map_waits = now

    @property
    def maps_wait(self) -> bool:
        """Whether a map has no container yet."""
        return any(one.role == "map" for one in self.queue)

    @property
    def all_maps_ended(self) -> bool:
        """So that reduces have nothing more to gather."""
        return len(self.ended_maps) >= self.maps

    def _when_done(self, maps: int) -> float:
        if len(self.ended_maps) < maps:
            return math.inf
        return self.ended_maps[maps - 1] if maps else self.ready


class _Schedule:
    """All jobs of a run, which share containers, and the flows of their attempts."""

    def __init__(self, recorded: RecordedJobs) -> None:
        cluster = recorded.cluster
        self._flows = Flows(cluster)
        self._free = [0.0] * cluster.containers
        self._slots = {host: [0.0] * number for host, number in cluster.slots.items()}
        self._room, self._hosts = cluster.room, hosts_of(recorded)
        self.roomiest: dict[str, str] = {}
        self._running: list[_Running] = []
        self._ran: list[Ran] = []
        self._jobs = [_Job(job, cluster.limits) for job in recorded.jobs]
        for place, job in enumerate(recorded.jobs):
            if job.back <= place:
                self._jobs[place - job.back].followers.append(self._jobs[place])
            else:
                self._jobs[place].ready = job.lead

    def run(self) -> tuple[float, list[Ran]]:
        """The end of the last attempt, and all of them."""
        while any(job.left for job in self._jobs):
            job, attempt = self._next()
            begins = self._begin_of(job, attempt) if job and attempt else math.inf
            for flow in self._flows.until(begins):
                running = next(one for one in self._running if one.flow is flow)
                self._end_part(running, flow.took(self._flows.time))
            if job and attempt and self._flows.time >= begins - 1e-9:
                self._begin(job, attempt)
        return self._flows.time, self._ran

    def _next(self) -> tuple[_Job, JobAttempt] | tuple[None, None]:
        """The next that gets a container, and its job; None, as long as all wait for others."""
        found = [(job, one) for job in self._jobs if (one := self._next_of(job))]
        if not found:
            return None, None
        return min(found, key=lambda each: (self._begin_of(*each), each[1].start))

    def _next_of(self, job: _Job) -> JobAttempt | None:
        """Of one job. Reduces leave a container to the maps that they will wait for."""
        if not self._free or not job.queue or job.ready == math.inf:
            return None
        maps_wait = job.maps_wait
        found = []
        for one in job.queue:
            last = len(self._free) == 1 and one.role == "reduce" and maps_wait
            allowed = all(free for free in self._free_of(job, one))
            if allowed and not last and job.asked(one) < math.inf:
                if not one.apart:
                    return one
                found.append(one)
        return min(found, key=lambda one: self._begin_of(job, one), default=None)

    def _free_of(self, job: _Job, attempt: JobAttempt) -> list[list[float]]:
        """Since when all that an attempt needs one of has been free."""
        found = [self._free]
        if attempt.role in job.allowed:
            found.append(job.allowed[attempt.role])
        if attempt.host in self._slots:
            found.append(self._slots[attempt.host])
        return found

    def _begin_of(self, job: _Job, attempt: JobAttempt) -> float:
        free = max(min(free) for free in self._free_of(job, attempt))
        begins = max(job.asked(attempt), free) + attempt.lag
        return max(self._flows.time, begins, job.ready + attempt.apart)

    def _begin(self, job: _Job, attempt: JobAttempt) -> None:
        for free in self._free_of(job, attempt):
            free.remove(min(free))
        job.take(attempt, self._flows.time)
        running = _Running(job, self._placed(attempt), self._flows.time)
        self._running.append(running)
        self._begin_part(running)

    def _placed(self, attempt: JobAttempt) -> JobAttempt:
        """A reduce where it was, unless another host than usual has most room for it now."""
        host = self._roomiest(attempt)
        self.roomiest[attempt.task] = host
        if not attempt.usual or host in (attempt.usual, attempt.host):
            return attempt
        return moved(attempt, host, self._hosts)

    def _roomiest(self, attempt: JobAttempt) -> str:
        """Of the hosts with room for a reduce the one that runs fewest containers, if it can be its
        own; a node gets one for each heartbeat that is not local to it (CapacityScheduler).
        """
        if attempt.role != "reduce" or not self._room:
            return attempt.host
        ran = Counter(one.attempt.host for one in self._running)
        ran.update(job.master for job in self._jobs if job.left and job.ready < math.inf)
        free = [host for host, room in self._room.items() if ran[host] < room]
        return min(free, key=lambda host: (ran[host], host != attempt.host, host),
                   default=attempt.host)  # fmt: skip

    def _begin_part(self, running: _Running) -> None:
        """The next part, unless it has to wait for maps; then `_end_part` of the last map does."""
        parts, place = running.attempt.parts, len(running.ended)
        waits = place > 0 and parts[place - 1].gathers and not running.job.all_maps_ended
        running.flow = None if waits else self._flows.begin(parts[place], running.attempt.host)

    def _end_part(self, running: _Running, took: Took) -> None:
        running.ended.append(took)
        if len(running.ended) < len(running.attempt.parts):
            self._begin_part(running)
            return
        self._running.remove(running)
        job, attempt, now = running.job, running.attempt, self._flows.time
        for free in self._free_of(job, attempt):
            free.append(now)
        parts = tuple(running.ended)
        times = (running.start, took.until)
        self._ran.append(Ran(attempt.task, attempt.role, attempt.host, *times, parts))
        job.left -= 1
        if attempt.role == "map":
            job.ended_maps.append(now)
            for waiting in [one for one in self._running if one.job is job and one.flow is None]:
                self._begin_part(waiting)
        if not job.left:
            for follower in job.followers:
                follower.ready = now + follower.lead
