"""The load of a sample on several hosts at once: as many as the point says (S5.2, nodes)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from iostrata.artifacts import load_jar
from iostrata.errors import UserError
from iostrata.predict import child
from iostrata.predict.dimensions import CACHE, CLIENTS, NODES, OPERATION, SIZE, Point
from iostrata.predict.fio import (
    MARK,
    PATIENCE,
    WHOLE_FILES,
    FioResult,
    access,
    answer,
    result,
    words,
)
from iostrata.predict.hadoop import hadoop_load
from iostrata.predict.hosts import LoadHost, LoadHosts


class HostLoad(Protocol):
    """What a host has of a sample."""

    def prepare(self, point: Point) -> None: ...

    def start(self, point: Point) -> subprocess.Popen[str]: ...

    def result(self, done: subprocess.CompletedProcess[str], point: Point) -> FioResult: ...


@dataclass
class FioOn:
    """fio on another host, in a folder that it has of its own there."""

    host: LoadHost
    folder: str
    seconds: float
    _made: dict[int, int] = field(default_factory=dict)  # bytes of the file of each client

    def prepare(self, point: Point) -> None:
        """Makes the files that are read. fio itself drops what of them is in memory."""
        if point[OPERATION.name] == "write":
            self.host.do("rm", "-f", *(f"{self.folder}/write.{n}" for n in _clients(point)))
            return
        size = int(point[SIZE.name])
        if any(self._made.get(client, 0) < size for client in _clients(point)):
            self._whole(point, list(WHOLE_FILES))
            self._made |= {
                client: max(size, self._made.get(client, 0)) for client in _clients(point)
            }
        if point[CACHE.name] == "warm":
            self._whole(point, ["--rw=read", "--bs=1m", "--invalidate=0"])

    def start(self, point: Point) -> subprocess.Popen[str]:
        """Starts a sample of a point."""
        drops = int(point[CACHE.name] != "warm")
        how = [*access(point), f"--runtime={self.seconds:g}", f"--invalidate={drops}"]
        return child.start(self.host.command(*words("fio", self.folder, point, how)))

    def result(self, done: subprocess.CompletedProcess[str], point: Point) -> FioResult:
        """What it moved; raises UserError."""
        return result(answer(done), point, self.folder)

    def _whole(self, point: Point, how: list[str]) -> None:
        command = self.host.command(*words("fio", self.folder, point, how))
        answer(child.run(command, self.seconds + PATIENCE, f"fio hangs in {self.folder}"))


@dataclass(frozen=True)
class HostsLoad:
    """All hosts; a point is measured on the first `nodes` of them at once."""

    loads: Sequence[HostLoad]
    seconds: float

    def prepare(self, point: Point) -> None:
        """On each host that takes part."""
        for load in self._of(point):
            load.prepare(point)

    def measure(self, point: Point) -> FioResult:
        """All bytes, in the time of the host that took longest; raises UserError."""
        started: list[subprocess.Popen[str]] = []
        try:
            started += [load.start(point) for load in self._of(point)]
            hangs = f"a host does not end its load within {self.seconds + PATIENCE:.0f} s"
            done = [child.finish(one, self.seconds + PATIENCE, hangs) for one in started]
        finally:
            for one in started:
                child.stop(one)
        found = [load.result(one, point) for load, one in zip(self.loads, done, strict=False)]
        return FioResult(sum(one.bytes for one in found), max(one.nanos for one in found))

    def _of(self, point: Point) -> Sequence[HostLoad]:
        return self.loads[: int(point[NODES.name])]


@contextmanager
def fio_on(hosts: LoadHosts, folder: str, seconds: float) -> Iterator[HostsLoad]:
    """fio on all hosts, each in a folder of its own below `folder`, which is gone afterwards."""
    for host in hosts:
        host.do("fio", "--version")
    with ExitStack() as stack:
        for host in hosts:
            own = f"{folder}/{host.name}"
            _make(host, own)
            stack.callback(host.ask, "rmdir", folder)
            stack.callback(host.do, "rm", "-rf", own)
        yield HostsLoad([FioOn(host, f"{folder}/{host.name}", seconds) for host in hosts], seconds)


def _make(host: LoadHost, own: str) -> None:
    """A new folder on a host; one that a killed session has left has a mark of ours, and goes."""
    mark = f"{own}/{MARK}"
    if not host.ask("test", "-e", own).returncode and host.ask("test", "-f", mark).returncode:
        raise UserError(
            f"{own} is on host {host.name} already, and is not ours", "move it away there"
        )
    host.do("rm", "-rf", own)
    host.do("mkdir", "-p", own)
    host.do("touch", mark)


@contextmanager
def hadoop_on(hosts: LoadHosts, folder: str, seconds: float) -> Iterator[HostsLoad]:
    """Hadoop's client on all hosts, each in a folder of its own beside `folder`."""
    jar = str(load_jar())
    for host in hosts:
        host.do("hadoop", "version")
        if host.ask("test", "-r", jar).returncode:
            raise UserError(f"host {host.name} has no {jar}", "copy it to the same place there")
    with ExitStack() as stack:
        loads = [
            stack.enter_context(hadoop_load(f"{folder}-{host.name}", seconds, host))
            for host in hosts
        ]
        yield HostsLoad(loads, seconds)


def _clients(point: Point) -> range:
    return range(int(point[CLIENTS.name]))
