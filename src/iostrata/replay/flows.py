"""Parts of attempts as flows through what they share: CPU of machines, disks and links of hosts.

Between two events (a part begins or ends, dirty memory is full or empty) all flow at constant
rates, so time goes from event to event. The CPU is shared so that all parts of a machine are
slowed down by the same factor. Writers do not wait for a disk until its dirty memory is full, and
share its rate then, as the kernel throttles them (balance_dirty_pages).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from iostrata.errors import InternalError
from iostrata.records import Record
from iostrata.replay.jobs import AttemptPart, SharedCluster

_LEAST = 1e-6  # s: the shortest part
_CLOSE = 1e-9
_MOST_STEPS = 60


class Took(Record, frozen=True):
    """From when until when a part ran, and how long of it a disk held it, and it shared a CPU; in
    seconds.
    """

    since: float
    until: float
    waited: float = 0.0
    shared: float = 0.0

    @property
    def length(self) -> float:
        """Seconds."""
        return self.until - self.since


@dataclass(eq=False)
class PartFlow:
    """A part that runs on a host; `done`: which part of it has gone by, of 1; `waited`: seconds in
    which a disk held it; `shared`: those in which it had less of a CPU than it could use.
    """

    part: AttemptPart
    host: str
    since: float
    done: float = 0.0
    waited: float = 0.0
    shared: float = 0.0
    rate: float = field(default=0.0, repr=False)
    held: bool = field(default=False, repr=False)
    slowed: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self.written = self.part.written(self.host)
        self.read = self.part.fetched()

    @cached_property
    def sent(self) -> dict[str, float]:
        """Bytes that hosts send for it."""
        return self.part.sent(self.host)

    @cached_property
    def received(self) -> dict[str, float]:
        """Bytes that hosts receive for it."""
        return self.part.received(self.host)

    def took(self, until: float) -> Took:
        """What it took, if it ended then."""
        return Took(self.since, until, self.waited, self.shared)

    def speed(self, slowed: float) -> float:
        """Parts of it a second, where a CPU of weight 1 goes at `slowed` of its full speed."""
        cores = self.part.cores * min(1.0, slowed * self.part.weight)
        return 1.0 / max(_LEAST, self.part.kept + self.part.cpu / cores)


_WRITTEN, _READ = attrgetter("written"), attrgetter("read")
_SENT, _RECEIVED = attrgetter("sent"), attrgetter("received")


class Flows:
    """What flows now. `time`: seconds."""

    def __init__(self, cluster: SharedCluster) -> None:
        self.time = 0.0
        self.flowing: list[PartFlow] = []
        self._cluster = cluster
        self._dirty = dict.fromkeys(cluster.disks, 0.0)
        self._grows = dict.fromkeys(cluster.disks, 0.0)

    def begin(self, part: AttemptPart, host: str) -> PartFlow:
        """A part begins now."""
        flow = PartFlow(part, host, self.time)
        self.flowing.append(flow)
        return flow

    def until(self, limit: float) -> list[PartFlow]:
        """Goes on until a part ends, or to `limit`; those that ended."""
        while True:
            self._share()
            step = min(limit - self.time, self._next())
            if not math.isfinite(step):
                raise InternalError("a replay stands still")
            self._pass(max(0.0, step))
            ended = [flow for flow in self.flowing if flow.done >= 1.0 - _CLOSE]
            if ended or limit - self.time <= _CLOSE:
                self.flowing = [flow for flow in self.flowing if flow not in ended]
                return ended

    def _next(self) -> float:
        """Seconds to the next event of a part or a disk."""
        ends = [(1.0 - flow.done) / flow.rate for flow in self.flowing if flow.rate > 0]
        for host, grows in self._grows.items():
            if grows > _CLOSE:
                ends.append((self._cluster.disks[host].room - self._dirty[host]) / grows)
            elif grows < -_CLOSE:
                ends.append(self._dirty[host] / -grows)
        return min(ends, default=math.inf)

    def _pass(self, step: float) -> None:
        self.time += step
        for flow in self.flowing:
            flow.done += flow.rate * step
            flow.waited += step if flow.held else 0.0
            flow.shared += step if flow.slowed and not flow.held else 0.0
        for host, grows in self._grows.items():
            room = self._cluster.disks[host].room
            level = min(room, max(0.0, self._dirty[host] + grows * step))
            self._dirty[host] = room if room - level < 1.0 else (0.0 if level < 1.0 else level)

    def _share(self) -> None:
        """Sets the rate of each flow; CPU that a disk leaves unused goes to the others."""
        held: dict[PartFlow, float] = {}
        for _ in range(3):
            self._share_cpu(held)
            limits = self._share_disks()
            if not limits:
                break
            held.update({flow: flow.rate * limit for flow, limit in limits.items()})
        for flow, limit in limits.items():
            flow.rate *= limit
        for flow in self.flowing:
            flow.held = flow in held
        self._fill()

    def _share_cpu(self, held: dict[PartFlow, float]) -> None:
        """All at the speed of the CPU, but those that a disk holds at a rate."""
        on: dict[str, list[PartFlow]] = defaultdict(list)
        for flow in self.flowing:
            on[self._cluster.machines[flow.host]].append(flow)
        for machine, here in on.items():
            cores = self._cluster.cores[machine]
            free = [flow for flow in here if flow not in held]
            taken = sum(held[flow] * flow.part.cpu for flow in here if flow in held)
            slowed = slowed_to(free, max(cores - taken, 0.05 * cores))
            for flow in here:
                flow.slowed = slowed < math.inf
                flow.rate = held.get(flow, flow.speed(slowed))

    def _share_disks(self) -> dict[PartFlow, float]:
        """The part of its rate that disks and links let a flow have; who has all is not in it."""
        writes, reads = self._wanted()
        of_reads, of_writes = {}, {}
        for host, disk in self._cluster.disks.items():
            dirty = disk.rate if self._dirty[host] > 0 else writes[host]
            for_reads = min(reads[host], max(disk.rate / 2, disk.rate - dirty))
            if reads[host] > for_reads:
                of_reads[host] = for_reads / reads[host]
            for_writes = disk.rate - for_reads
            if self._dirty[host] >= disk.room and writes[host] > for_writes:
                of_writes[host] = for_writes / writes[host]
        of_sent, of_received = self._of_links()
        limits = {}
        for flow in self.flowing if of_reads or of_writes or of_sent or of_received else ():
            limit = min(
                *(of_reads.get(host, 1.0) for host in flow.read),
                *(of_writes.get(host, 1.0) for host in flow.written),
                *(of_sent.get(host, 1.0) for host in (flow.sent if of_sent else ())),
                *(of_received.get(host, 1.0) for host in (flow.received if of_received else ())),
                1.0,
                1.0,
            )
            if limit < 1.0:
                limits[flow] = limit
        return limits

    def _of_links(self) -> tuple[dict[str, float], dict[str, float]]:
        """The part of what is to be sent, and to be received, that links let through, by host."""
        link = self._cluster.link
        if not link:
            return {}, {}
        of_sent, of_received = (
            {host: link / rate for host, rate in rates.items() if rate > link}
            for rates in (self._rates(_SENT), self._rates(_RECEIVED))
        )
        return of_sent, of_received

    def _fill(self) -> None:
        """How fast the dirty bytes of each host become more."""
        writes, reads = self._wanted()
        for host, disk in self._cluster.disks.items():
            grows = writes[host] - max(0.0, disk.rate - reads[host])
            at_end = grows < 0 and self._dirty[host] <= 0
            at_top = grows > 0 and self._dirty[host] >= disk.room
            self._grows[host] = 0.0 if at_end or at_top else grows

    def _wanted(self) -> tuple[dict[str, float], dict[str, float]]:
        """Bytes a second that become dirty, and that are read, by host."""
        return self._rates(_WRITTEN), self._rates(_READ)

    def _rates(self, of: Callable[[PartFlow], Mapping[str, float]]) -> dict[str, float]:
        """Bytes a second of all flows, by host."""
        found: dict[str, float] = defaultdict(float)
        for flow in self.flowing:
            for host, amount in of(flow).items():
                found[host] += flow.rate * amount
        return found


def slowed_to(flows: Iterable[PartFlow], cores: float) -> float:
    """The speed of a CPU of weight 1 at which flows use no more than `cores`; inf: all of them go
    at their full speed.
    """
    needy = [flow.part for flow in flows if flow.part.cpu > 0]
    weights = [part.weight for part in needy]
    # most of the time of a replay is here, so `PartFlow.speed` is written out
    known = [(part.kept, part.cpu, part.cpu / part.cores, part.weight) for part in needy]

    def used(slowed: float) -> float:
        total = 0.0
        for kept, cpu, alone, weight in known:
            share = slowed * weight
            took = kept + (alone / share if share < 1.0 else alone)
            total += cpu / (took if took > _LEAST else _LEAST)
        return total

    if used(math.inf) <= cores:
        return math.inf
    return max(1e-6, _root(lambda slowed: used(slowed) - cores, -cores, 1.0 / min(weights)))


def _root(of: Callable[[float], float], at_zero: float, high: float) -> float:
    """Where a function that grows is 0, between 0 and `high`: regula falsi, by the Illinois rule,
    which asks it some eight times.
    """
    low, under, over = 0.0, at_zero, of(high)
    side = 0
    for _ in range(_MOST_STEPS):
        middle = low - under * (high - low) / (over - under)
        value = of(middle)
        if abs(value) <= _CLOSE * -at_zero or high - low <= _CLOSE * high:
            return middle
        if value > 0:
            high, over = middle, value
            under /= 2 if side > 0 else 1
            side = 1
        else:
            low, under = middle, value
            over /= 2 if side < 0 else 1
            side = -1
    return low
