"""Jobs one after the other: containers, the slow start of reduces, and what reduces wait for.

Attempts get containers in the order in which they began when they were recorded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from iostrata.records import Record
from iostrata.replay.flows import Flows, PartFlow, Took
from iostrata.replay.jobs import JobAttempt, RecordedJobs, ReplayedJob, SharedCluster


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
    attempt: JobAttempt
    start: float
    ended: list[Took] = field(default_factory=list)
    flow: PartFlow | None = None


def replay(recorded: RecordedJobs) -> Replay:
    """The run as its cluster and jobs say, from its begin to its end."""
    flows = Flows(recorded.cluster)
    ran: list[Ran] = []
    for job in recorded.jobs:
        ran += _OneJob(flows, job, recorded.cluster).run()
    return Replay(flows.time + recorded.tail, tuple(sorted(ran, key=lambda one: one.start)))


class _OneJob:
    """A job; the flows keep their time and their dirty bytes from one to the next."""

    def __init__(self, flows: Flows, job: ReplayedJob, cluster: SharedCluster) -> None:
        self._flows = flows
        self._ready = flows.time + job.lead
        self._queue = list(job.attempts)
        self._maps, self._slow_start = job.maps, job.slow_start
        self._ended_maps: list[float] = []
        self._no_map_waits = math.inf if job.maps else self._ready
        self._free = [self._ready] * cluster.containers
        self._allowed = {role: [self._ready] * number for role, number in cluster.limits.items()}
        self._slots = {host: [self._ready] * number for host, number in cluster.slots.items()}
        self._running: list[_Running] = []
        self._ran: list[Ran] = []

    def run(self) -> list[Ran]:
        """All attempts of the job."""
        while self._queue or self._running:
            attempt = self._next()
            begins = self._begin_of(attempt) if attempt else math.inf
            for flow in self._flows.until(begins):
                running = next(one for one in self._running if one.flow is flow)
                self._end_part(running, flow.took(self._flows.time))
            if attempt and self._flows.time >= begins - 1e-9:
                self._begin(attempt)
        return self._ran

    def _next(self) -> JobAttempt | None:
        """The next that gets a container; None, as long as all wait for others. Reduces leave one
        to the maps that they will wait for.
        """
        if not self._free:
            return None
        maps_wait = any(one.role == "map" for one in self._queue)
        found = []
        for one in self._queue:
            last = len(self._free) == 1 and one.role == "reduce" and maps_wait
            allowed = all(free for free in self._free_of(one))
            if allowed and not last and self._asked(one) < math.inf:
                if not one.apart:
                    return one
                found.append(one)
        return min(found, key=self._begin_of, default=None)

    def _free_of(self, attempt: JobAttempt) -> list[list[float]]:
        """Since when all that an attempt needs one of has been free."""
        found = [self._free]
        if attempt.role in self._allowed:
            found.append(self._allowed[attempt.role])
        if attempt.host in self._slots:
            found.append(self._slots[attempt.host])
        return found

    def _asked(self, attempt: JobAttempt) -> float:
        """When a container was asked for; inf: not yet. Reduces: some as maps end, all others when
        no map waits for one (RMContainerAllocator.scheduleReduces).
        """
        if attempt.role != "reduce":
            return self._ready
        more = min(self._when_done(attempt.after), self._no_map_waits)
        return max(self._when_done(self._slow_start), more)

    def _when_done(self, maps: int) -> float:
        if len(self._ended_maps) < maps:
            return math.inf
        return self._ended_maps[maps - 1] if maps else self._ready

    def _begin_of(self, attempt: JobAttempt) -> float:
        asked = self._asked(attempt)
        free = max(min(free) for free in self._free_of(attempt))
        return max(self._flows.time, max(asked, free) + attempt.lag, self._ready + attempt.apart)

    def _begin(self, attempt: JobAttempt) -> None:
        for free in self._free_of(attempt):
            free.remove(min(free))
        self._queue.remove(attempt)
        if attempt.role == "map" and not any(one.role == "map" for one in self._queue):
            self._no_map_waits = self._flows.time
        running = _Running(attempt, self._flows.time)
        self._running.append(running)
        self._begin_part(running)

    def _begin_part(self, running: _Running) -> None:
        """The next part, unless it has to wait for maps; then `_end_part` of the last map does."""
        parts, place = running.attempt.parts, len(running.ended)
        waits = place > 0 and parts[place - 1].gathers and len(self._ended_maps) < self._maps
        running.flow = None if waits else self._flows.begin(parts[place], running.attempt.host)

    def _end_part(self, running: _Running, took: Took) -> None:
        running.ended.append(took)
        if len(running.ended) < len(running.attempt.parts):
            self._begin_part(running)
            return
        self._running.remove(running)
        attempt = running.attempt
        for free in self._free_of(attempt):
            free.append(self._flows.time)
        parts = tuple(running.ended)
        times = (running.start, took.until)
        self._ran.append(Ran(attempt.task, attempt.role, attempt.host, *times, parts))
        if attempt.role == "map":
            self._ended_maps.append(self._flows.time)
            for waiting in [one for one in self._running if one.flow is None]:
                self._begin_part(waiting)
