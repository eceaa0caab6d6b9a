"""What a run says of CPU and disks over time: of each attempt, with what others did for it.

Daemons work for attempts, so what machines used beside attempts is shared out to those that ran,
by their own CPU time. docs/decisions/0041-a-job-as-flows.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iostrata.analyse.attempts import Attempt, most_at_once
from iostrata.analyse.demands import (
    DeviceMoment,
    Dirtied,
    TaskThread,
    device_moments,
    dirtied,
    task_threads,
)
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.hosts import HostBin, hosts
from iostrata.analyse.over_time import SECOND
from iostrata.analyse.processes import Process, processes
from iostrata.analyse.usage import JobUsage, ProcessUsage, job_usage, process_usage
from iostrata.errors import UserError
from iostrata.replay.jobs import HostDisk, SharedCluster
from iostrata.replay.served import Served

_BIN = SECOND // 4  # the kernel's account is read once a second
_MOST_BESIDE = 3.0  # daemons that take more for each second of an attempt do so for themselves
_STALLED = 0.05  # of the time of attempts, some thread waited for I/O: disks are a limit
_WINDOW = 3  # seconds: the best of them are the rate of a disk
_HELD = 0.5  # of a second, some thread waited for I/O: a disk holds the machine back
# A disk is at its limit where it is as fast for so long (s), and no single second is much faster:
# one that is written to in bursts has its best seconds from chance.
_LONG, _AT_LIMIT, _STEADY = 6, 0.9, 0.85
_LEAST_CORES = 0.1


@dataclass(frozen=True)
class Used:
    """What an attempt used between two times: seconds of its `own` CPU, and of `cpu` with what
    others used for it; bytes; `idle`: seconds in which neither CPU nor a disk was waited for.
    """

    own: float
    cpu: float
    dirtied: float
    fetched: float
    idle: float


@dataclass(frozen=True)
class _UsedBin:
    """What an attempt used in a bin, in which it ran from `since` to `until`; seconds, bytes."""

    bin: int
    since: float
    until: float
    cpu: float
    dirtied: float
    fetched: float
    spark: bool

    @property
    def length(self) -> float:
        """Seconds."""
        return self.until - self.since


class Demands:
    """CPU and disks of the attempts of a run, which began at `start` (ns); `served`: what servers
    did for them. Raises UserError where the run has no history of its machines, or of processes.
    """

    def __init__(self, engine: DuckDb, start: int, ran: list[Attempt]) -> None:
        self._start, self._ran = start, ran
        self._threads = {one.task: one for one in engine.records(task_threads, TaskThread)}
        self._executors = {self._threads[one.task].proc for one in ran
                           if one.stage and one.task in self._threads}  # fmt: skip
        usage = engine.records(process_usage(start, _BIN), ProcessUsage)
        self._usage = self._shared_out(usage)
        self._bins = engine.records(hosts(start, SECOND), HostBin)
        if not self._bins or not self._usage:
            raise UserError(
                "the run has no history of its machines or processes",
                "it was imported, or recorded by an old version: record the job again",
            )
        traced = engine.records(job_usage(start, _BIN), JobUsage)
        self._machines = _of_machines(self._bins, traced)
        self._own, self._running = self._in_bins()
        self._waits = {row.bin: (row.cpu_pressure or 0.0, row.io_pressure or 0.0)
                       for row in self._bins}  # fmt: skip
        self.served = Served(engine, ran, usage, _BIN / SECOND)
        self._devices = engine.records(device_moments, DeviceMoment)
        self._dirtied = engine.records(dirtied, Dirtied)
        self._masters = [one for one in engine.records(processes, Process)
                         if one.role == "appmaster" and one.host and one.start]  # fmt: skip

    def seconds(self, when: int | None) -> float:
        """ns since the epoch as seconds from the begin of the run."""
        return ((when or 0) - self._start) / 1e9

    def blocked(self, one: Attempt) -> float | None:
        """Seconds in which the thread of an attempt neither ran nor waited for a CPU; None where
        that is not known.
        """
        thread = self._threads.get(one.task)
        if thread is None or thread.worked is None:
            return None
        return max(0.0, (one.dur or 0) - thread.worked) / 1e9

    def turns(self, host: str) -> list[float]:
        """When what holds its machine back became another: a disk, or none; in seconds from the
        begin of the run.
        """
        machine = _machine(host, {row.host: row for row in self._bins})
        rows = [row for row in self._bins if row.host == machine]
        held = [(row.io_pressure or 0.0) > max(_HELD, row.cpu_pressure or 0.0) for row in rows]
        return [float(row.bin) for row, now, before in zip(rows[1:], held[1:], held, strict=False)
                if now != before]  # fmt: skip

    def used(self, task: str, start: float, end: float) -> Used:
        """What an attempt used between two times, in seconds from the begin of the run."""
        sums = [0.0] * 5
        for used in self._usage[task]:
            length = used.length
            part = max(0.0, min(end, used.until) - max(start, used.since)) / length
            for_cpu, for_io = self._waits.get(used.bin * _BIN // SECOND, (0.0, 0.0))
            busy = max(for_cpu, used.cpu / length)
            idle = (1 - min(1.0, busy)) * (1 - min(1.0, for_io)) * length
            cpu = used.cpu + self._beside(used)
            amounts = (used.cpu, cpu, used.dirtied, used.fetched, idle)
            sums = [total + part * amount for total, amount in zip(sums, amounts, strict=True)]
        return Used(*sums)

    def _shared_out(self, rows: Iterable[ProcessUsage]) -> dict[str, list[_UsedBin]]:
        """What processes used in a bin, to the attempts that ran in them, by how long they did. An
        executor of Spark works on when its tasks have ended: for that time to none of them.
        """
        ran = self._ran_in_bins()
        found: dict[str, list[_UsedBin]] = defaultdict(list)
        for row in rows:
            here = ran.get((row.proc, row.bin), [])
            whole = sum(end - start for start, end, _ in here)
            if of_spark := row.proc in self._executors:
                whole *= _BIN / 1e9 / _covered([(start, end) for start, end, _ in here])
            for start, end, task in here:
                part = (end - start) / whole
                cpu, dirtied = part * row.cpu / 1e9, part * (row.disk_written or 0)
                fetched = part * (row.disk_read or 0)
                found[task].append(_UsedBin(row.bin, start, end, cpu, dirtied, fetched, of_spark))
        return found

    def _ran_in_bins(self) -> dict[tuple[int, int], list[tuple[float, float, str]]]:
        """By process and bin, from when until when each attempt ran in it, in seconds."""
        found: dict[tuple[int, int], list[tuple[float, float, str]]] = defaultdict(list)
        width = _BIN / 1e9
        for one in self._ran:
            if one.task in self._threads:
                proc = self._threads[one.task].proc
                start, end = self.seconds(one.start), self.seconds(one.end)
                for number in range(int(start // width), int(end // width) + 1):
                    since, until = max(start, number * width), min(end, (number + 1) * width)
                    if until > since:
                        found[proc, number].append((since, until, one.task))
        return found

    def _in_bins(self) -> tuple[dict[int, float], dict[int, float]]:
        """Per bin, seconds of CPU of all attempts, and seconds for which tasks of Spark ran."""
        own: dict[int, float] = defaultdict(float)
        running: dict[int, float] = defaultdict(float)
        for rows in self._usage.values():
            for used in rows:
                own[used.bin] += used.cpu
                running[used.bin] += used.length if used.spark else 0.0
        return own, running

    def _beside(self, used: _UsedBin) -> float:
        """Seconds of CPU that others used for an attempt in a bin. A task of Spark may leave all of
        its work to others, such as workers of Python: they share by time, the others by CPU.
        """
        own = self._own[used.bin]
        others = max(0.0, self._machines.get(used.bin, 0.0) / 1e9 - own)
        if used.spark:
            return others * used.length / self._running[used.bin]
        return used.cpu * min(_MOST_BESIDE, others / own) if own else 0.0

    def copies(self) -> float | None:
        """Bytes that DataNodes wrote for each byte that attempts wrote to HDFS."""
        written = sum(one.written for one in self._ran)
        return self.served.written / written if written and self.served.written else None

    def cluster(self, containers: int) -> SharedCluster:
        """Machines with their cores, without what others took, and the disks that were a limit."""
        named = {one.host or "" for one in self._ran}
        named |= self.served.hosts
        bins: dict[str, list[HostBin]] = defaultdict(list)
        first = min(one.start or 0 for one in self._ran) - self._start
        last = max(one.end or 0 for one in self._ran) - self._start
        for row in self._bins:
            if first <= row.bin * SECOND <= last:
                bins[row.host].append(row)
        machine_of = {host: _machine(host, bins) for host in sorted(named)}
        taken: dict[str, float] = defaultdict(float)
        for one in self._ran:
            cpu = sum(used.cpu + self._beside(used) for used in self._usage[one.task])
            taken[machine_of[one.host or ""]] += cpu
        cores = {name: _cores(bins[name], taken[name]) for name in set(machine_of.values())}
        stalled = {name: _stalled(rows) >= _STALLED for name, rows in bins.items()}
        seen = {moment.host for moment in self._devices}
        limits = [host for host in sorted(named) if stalled[machine_of[host]] and host in seen]
        slots = {host: most_at_once(times) for host, times in self._stage_times().items()}
        return SharedCluster(
            machines=machine_of,
            cores=cores,
            disks=self._disks(limits),
            containers=containers,
            slots=slots,
            executors=len(self._executors),
            room=self._room(),
        )

    def _room(self) -> dict[str, int]:
        """Hosts are taken to be alike: as many containers as ran at once on one of them, with its
        ApplicationMaster.
        """
        times: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for one in self._ran:
            if not one.stage:
                times[one.host or ""].append((one.start or 0, one.end or 0))
        for master in self._masters:
            times[master.host or ""].append((master.start or 0, master.end or 0))
        most = max((most_at_once(here) for here in times.values()), default=0)
        return dict.fromkeys(sorted({one.host or "" for one in self._ran}), most)

    def master(self, job: str) -> str:
        """The host of the ApplicationMaster of a job; empty where that is not known."""
        return next((one.host or "" for one in self._masters if one.job == job), "")

    def _stage_times(self) -> dict[str, list[tuple[int, int]]]:
        """When tasks of Spark ran, by host."""
        times: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for one in self._ran:
            if one.stage:
                times[one.host or ""].append((one.start or 0, one.end or 0))
        return times

    def _disks(self, hosts: Iterable[str]) -> dict[str, HostDisk]:
        """How fast disks are at most, and how much waits for them. One that was never at its limit
        is taken to be as fast as the fastest that was.
        """
        moved = {host: [one for one in self._devices if one.host == host] for host in hosts}
        rates = {host: max(1.0, _best(rows, _WINDOW)) for host, rows in moved.items()}
        limited = {host: rates[host] for host, rows in moved.items()
                   if _is_at_limit(rows, rates[host])}  # fmt: skip
        fastest = max((limited or rates).values(), default=1.0)
        found = {}
        for host, rows in moved.items():
            rate = limited.get(host, max(rates[host], fastest))
            waited = _most_waiting([one for one in self._dirtied if one.host == host], rows)
            found[host] = HostDisk(rate, max(waited, rate / 10))
        return found


def _covered(times: Iterable[tuple[float, float]]) -> float:
    """Seconds in which at least one was there; at least a little."""
    found, last = 0.0, -math.inf
    for start, end in sorted(times):
        found += max(0.0, end - max(start, last))
        last = max(last, end)
    return max(found, 1e-9)


def _machine(host: str, machines: Mapping[str, object]) -> str:
    """A host without a history of its own is a node of the only machine that has one."""
    if host in machines:
        return host
    if len(machines) != 1:
        raise UserError(f"host {host} has no history of its CPU", "record with a collector on it")
    return next(iter(machines))


def _of_machines(bins: Iterable[HostBin], traced: Iterable[JobUsage]) -> dict[int, float]:
    """Per bin the CPU time of all machines, in ns, without what they always took for others: what
    untraced processes took at least, in nine of ten seconds.
    """
    used: dict[int, float] = defaultdict(float)
    for one in traced:
        used[one.bin * _BIN // SECOND] += one.cpu
    machines: dict[int, float] = defaultdict(float)
    for row in bins:
        share = (row.cpu_user or 0.0) + (row.cpu_system or 0.0)
        machines[row.bin] += share * (row.cores or 0) * SECOND
    others = sorted(max(0.0, cpu - used[place]) for place, cpu in machines.items())
    always = others[len(others) // 10]
    parts = SECOND // _BIN
    return {
        place * parts + at: max(cpu - always, used[place]) / parts
        for place, cpu in machines.items()
        for at in range(parts)
    }


def _cores(bins: Iterable[HostBin], taken: float) -> float:
    """Cores of a machine, without what others than attempts took of them."""
    bins = list(bins)
    time = sum(row.sampled for row in bins) / 1e9
    cores = max((row.cores or 0 for row in bins), default=0)
    busy = sum(((row.cpu_user or 0) + (row.cpu_system or 0)) * row.sampled for row in bins) / 1e9
    others = max(0.0, busy * cores - taken) / time if time else 0.0
    return max(_LEAST_CORES, cores - others)


def _stalled(bins: Iterable[HostBin]) -> float:
    """Part of the time in which some thread of a machine waited for I/O."""
    bins = list(bins)
    time = sum(row.sampled for row in bins)
    return sum((row.io_pressure or 0.0) * row.sampled for row in bins) / time if time else 0.0


def _best(rows: list[DeviceMoment], looks: int) -> float:
    """Bytes a second in the best of so many looks, one a second, that follow each other."""
    ends = range(min(looks, len(rows)), len(rows) + 1)
    return max((_rate(rows[max(0, end - looks) : end]) for end in ends), default=0.0)


def _is_at_limit(rows: list[DeviceMoment], rate: float) -> bool:
    return _best(rows, _LONG) >= _AT_LIMIT * rate and rate >= _STEADY * _best(rows, 1)


def _rate(rows: list[DeviceMoment]) -> float:
    """Bytes a second."""
    return sum(row.moved for row in rows) * 1e9 / max(1, sum(row.interval for row in rows))


def _most_waiting(dirty: Iterable[Dirtied], moved: Iterable[DeviceMoment]) -> float:
    """The most dirty bytes that waited for devices."""
    events = [(one.time + one.interval, one.bytes) for one in dirty]
    events += [(one.time + one.interval, -one.written) for one in moved]
    most = level = 0
    for _, change in sorted(events):
        level = max(0, level + change)
        most = max(most, level)
    return float(most)
