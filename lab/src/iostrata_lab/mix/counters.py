"""What the kernel counts of all that programs on a lab share: disks, networks and CPUs of its
nodes, its servers, and this machine.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from iostrata.processes import stat_fields
from iostrata.records import Rate, Record, Share
from iostrata.schema.roles import STORAGE_CLIENTS
from iostrata_lab.clusters.cgroups import Controller
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.clusters.nodes import Node
from iostrata_lab.clusters.state import Daemon

Kind = Literal[
    "server disk", "server network", "server CPU", "metadata server", "client", "server",
    "machine disk", "machine CPU",
]  # fmt: skip
OF_NODES: tuple[Kind, ...] = ("server disk", "server network", "server CPU")
BUSIEST = "the busiest node"  # at any time
METADATA = ("namenode", "mfsmaster", "ceph-mds", "ceph-mon")
SECTOR = 512  # bytes, of the kernel's statistics
TICKS = os.sysconf("SC_CLK_TCK")
EVERY = 1.0  # s from one look to the next


class Reading(NamedTuple):
    """Counters that only grow: s in which it was in use, by each measure that there is; bytes."""

    used: tuple[float, ...]
    moved: int = 0


class Resource(Protocol):
    """Something that programs share."""

    @property
    def kind(self) -> Kind: ...

    @property
    def name(self) -> str: ...

    def read(self) -> Reading:
        """Raises OSError where it is gone."""


class Use(Record, frozen=True):
    """How far a resource was in use during a trial: the share of the time, or of what it may do in
    that time, whichever is more; null where nobody knows how much it can do. `rate` is what it
    moved, of both directions.
    """

    kind: Kind
    name: str
    share: Share | None
    rate: Rate


class MovedSeries(Record, frozen=True):
    """Bytes a second that a resource moved, over s of a trial."""

    kind: Kind
    name: str
    times: list[float]
    rates: list[Rate]


@dataclass(frozen=True)
class Disk:
    """A block device: its busy time, and its bytes and requests beside what its brake lets pass.

    What a brake holds back has not reached the device: it is not busy meanwhile.
    """

    kind: Kind
    name: str
    device: str  # MAJOR:MINOR
    rate: int = 0  # bytes/s of each direction, 0 for no brake
    operations: int = 0  # likewise requests/s

    def read(self) -> Reading:
        fields = [int(word) for word in _text(f"/sys/dev/block/{self.device}/stat").split()]
        ops, sizes = (fields[0], fields[4]), (fields[2] * SECTOR, fields[6] * SECTOR)
        used = [fields[9] / 1000]
        used += [size / self.rate for size in sizes if self.rate]
        used += [op / self.operations for op in ops if self.operations]
        return Reading(tuple(used), sum(sizes))


@dataclass(frozen=True)
class Network:
    """The link of a node, beside what its brake lets pass in each direction."""

    kind: Kind
    name: str
    pid: int  # that is in it
    rate: int

    def read(self) -> Reading:
        lines = _text(f"/proc/{self.pid}/net/dev").splitlines()
        words = next(line.split() for line in lines if line.strip().startswith("eth0:"))
        sizes = (int(words[1]), int(words[9]))
        return Reading(tuple(size / self.rate for size in sizes if self.rate), sum(sizes))


@dataclass(frozen=True)
class GroupCpu:
    """CPU time of all processes of a node, beside the cores that it may use."""

    kind: Kind
    name: str
    group: Path
    version: int  # of the cgroup
    cores: float

    def read(self) -> Reading:
        if self.version == 1:
            seconds = int(_text(self.group / "cpuacct.usage")) / 1e9
        else:
            lines = _text(self.group / "cpu.stat").splitlines()
            seconds = int(dict(line.split() for line in lines)["usage_usec"]) / 1e6
        return Reading((seconds / self.cores,))


@dataclass(frozen=True)
class ProcessCpu:
    """CPU time of a server, beside one core: the most that a server of one thread can use."""

    kind: Kind
    name: str
    pid: int

    def read(self) -> Reading:
        fields = stat_fields(self.pid)
        return Reading(((int(fields[11]) + int(fields[12])) / TICKS,))


@dataclass(frozen=True)
class MachineCpu:
    """All cores of this machine; time that the host of a virtual machine took counts as used."""

    kind: Kind = "machine CPU"
    name: str = "all cores"

    def read(self) -> Reading:
        words = [int(word) for word in _text("/proc/stat").splitlines()[0].split()[1:9]]
        idle = words[3] + words[4]
        return Reading(((sum(words) - idle) / TICKS / (os.cpu_count() or 1),))

    def seconds(self) -> float:
        """CPU s of all cores since boot, what the host took left out."""
        words = [int(word) for word in _text("/proc/stat").splitlines()[0].split()[1:8]]
        return (sum(words) - words[3] - words[4]) / TICKS


def resources(lab: Lab | None, groups: Sequence[Controller] = ()) -> list[Resource]:
    """Those of a lab, and of this machine; `groups`: controllers of its nodes."""
    found: list[Resource] = [MachineCpu(), *_machine_disks()]
    if lab is None:
        return found
    cpu = next((one for one in groups if one.name == "cpu"), None)
    for node in lab.nodes():
        found += _of_node(lab, node, cpu)
    found += [_of_server(daemon) for daemon in lab.daemons() if not daemon.node]
    return [one for one in found if _reading(one) is not None]


def _of_node(lab: Lab, node: Node, cpu: Controller | None) -> list[Resource]:
    brake, name = node.brake, node.short
    found: list[Resource] = [
        Disk("server disk", name, node.device, brake.disk, brake.disk_ops),
        Network("server network", name, node.pid, brake.net),
    ]
    if cpu is not None:
        cores = brake.cpu or float(os.cpu_count() or 1)
        group = cpu.group(lab.name, node.name)
        found.append(GroupCpu("server CPU", name, group, cpu.version, cores))
    return found


def _of_server(daemon: Daemon) -> Resource:
    is_metadata = daemon.role.startswith(METADATA)
    is_client = daemon.role.startswith(STORAGE_CLIENTS)
    kind: Kind = "metadata server" if is_metadata else "client" if is_client else "server"
    return ProcessCpu(kind, daemon.role, daemon.pid)


def _machine_disks() -> list[Resource]:
    """Those with hardware behind them: nothing that is stacked on others."""
    entries = sorted(Path("/sys/block").iterdir())
    return [
        Disk("machine disk", entry.name, _text(entry / "dev").strip())
        for entry in entries
        if (entry / "device").exists()
    ]


def _text(path: str | Path) -> str:
    return Path(path).read_text("utf-8")


@dataclass
class ResourceWatch:
    """Looks at resources again and again during a trial."""

    resources: Sequence[Resource]
    _looks: list[tuple[float, list[Reading | None]]] = field(default_factory=list)

    def look(self, at_once: bool = False) -> None:
        """Looks if it is time to."""
        now = time.monotonic()
        if at_once or not self._looks or now - self._looks[-1][0] >= EVERY:
            self._looks.append((now, [_reading(one) for one in self.resources]))

    def uses(self) -> list[Use]:
        """Of the whole trial; a resource that went away has none. Of those of which each node has
        one, also the one that is in use most at any time: data may lie on few nodes, and on others
        in each trial.
        """
        kinds = Counter(one.kind for one in self.resources)
        several = [kind for kind, number in kinds.items() if number > 1 and kind in OF_NODES]
        return [*self._each(), *(busiest for kind in several for busiest in self._busiest(kind))]

    def _busiest(self, kind: Kind) -> list[Use]:
        places = [at for at, one in enumerate(self.resources) if one.kind == kind]
        used = passed = 0.0
        for (begin, before), (end, after) in pairwise(self._looks):
            pairs = [(before[at], after[at]) for at in places]
            shares = [
                _grown(first, last, end - begin)[0] if first and last and end > begin else None
                for first, last in pairs
            ]
            known = [share for share in shares if share is not None]
            if known:
                used += max(known) * (end - begin)
                passed += end - begin
        rate = sum(one.rate for one in self._each() if one.kind == kind)
        return [Use(kind, BUSIEST, used / passed, rate)] if passed else []

    def _each(self) -> list[Use]:
        (begin, before), (end, after) = self._looks[0], self._looks[-1]
        found = []
        for place, resource in enumerate(self.resources):
            first, last = before[place], after[place]
            if first is not None and last is not None and end > begin:
                grown = _grown(first, last, end - begin)
                found.append(Use(resource.kind, resource.name, *grown))
        return found

    def series(self, kinds: Sequence[Kind]) -> list[MovedSeries]:
        """Of resources of these kinds."""
        return [
            self._series(place, resource)
            for place, resource in enumerate(self.resources)
            if resource.kind in kinds
        ]

    def _series(self, place: int, resource: Resource) -> MovedSeries:
        times, rates = [], []
        begun = self._looks[0][0]
        for (begin, before), (end, after) in pairwise(self._looks):
            first, last = before[place], after[place]
            if first is not None and last is not None and end > begin:
                times.append(round((begin + end) / 2 - begun, 3))
                rates.append(round(_grown(first, last, end - begin)[1], 1))
        return MovedSeries(resource.kind, resource.name, times, rates)


def _reading(resource: Resource) -> Reading | None:
    with suppress(OSError, StopIteration, KeyError, ValueError, IndexError):
        return resource.read()
    return None


def _grown(first: Reading, last: Reading, passed: float) -> tuple[float | None, float]:
    used = [(b - a) / passed for a, b in zip(first.used, last.used, strict=True)]
    return max(used, default=None), (last.moved - first.moved) / passed
