"""A lab on shared memory of its own: a tmpfs mount, which can be filled without harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.cluster import Cluster
from tests.e2e.test_harmless import small_memory_disk
from tests.e2e.test_kill import collect

from iostrata.artifacts import stage_agent
from iostrata.record.collector import collector_of
from iostrata.record.protocol import read_progress
from iostrata_lab import clusters
from iostrata_lab.clusters import processes

TASK = "org.apache.hadoop.mapred.YarnChild"


@dataclass
class Site:
    """A cluster, the mount that its traces go to, and the collector that drains it."""

    cluster: Cluster
    directory: Path
    collector: subprocess.Popen[bytes]

    @property
    def lab(self) -> clusters.Lab:
        return clusters.find(self.cluster.name)

    def popen(
        self, run: str, *command: str, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        """Begins to record a command; its standard error is the recorder's, too."""
        words = ["iostrata", "record", "--dir", str(self.directory), "--run", run, *options, "--"]
        return self.lab.popen(
            [*words, *command],
            env=self.cluster.environment | self.lab.environment() | {"PATH": path(self.lab)},
            cwd=self.cluster.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def tasks(self) -> list[int]:
        """Processes of map and reduce attempts that run now."""
        below = processes.descendants({self.daemon("nodemanager")})
        return sorted(
            pid
            for pid in below
            if TASK in (words := processes.command(pid)) and words[0].endswith("/java")
        )

    def daemon(self, role: str) -> int:
        """Process of a daemon."""
        (pid,) = (one.pid for one in self.lab.daemons() if one.role == role)
        return pid

    def is_done(self, run: str) -> bool:
        """All of the run is published."""
        found = collector_of(self.directory)
        return found is not None and read_progress(found, run).state == "done"

    def kill_collector(self) -> None:
        self.collector.kill()
        self.collector.wait()

    def collect_again(self) -> None:
        self.collector = collect(self.directory, self.cluster.store)

    @contextmanager
    def full(self) -> Iterator[None]:
        """No byte is free in the mount for as long as the block lasts: what processes that end give
        back is taken, too.
        """
        assert os.path.ismount(self.directory)
        filler, over = self.directory / "filler", threading.Event()
        try:
            with filler.open("wb", buffering=0) as out:
                fill(out.fileno())
                assert os.statvfs(self.directory).f_bavail == 0
                filling = threading.Thread(target=keep_full, args=(out.fileno(), over))
                filling.start()
                try:
                    yield
                finally:
                    over.set()
                    filling.join()
        finally:
            filler.unlink()


def keep_full(descriptor: int, over: threading.Event) -> None:
    while not over.wait(0.005):
        fill(descriptor)


def fill(descriptor: int) -> None:
    block = bytes(1 << 20)
    while written(descriptor, block):
        pass


def written(descriptor: int, block: bytes) -> bool:
    """False when there was room for none of it."""
    try:
        return os.write(descriptor, block) > 0
    except OSError:
        return False


def path(on: clusters.Lab) -> str:
    """The lab's programs, then those of this environment."""
    return f"{Path(sys.executable).parent}:{on.environment()['PATH']}"


@contextmanager
def site_up(folder: Path, name: str, size: str) -> Iterator[Site]:
    """One DataNode and YARN, all with the agent; gone afterwards, whatever happened."""
    store = folder / "store"
    with small_memory_disk(folder / "shm", size) as directory:
        directory.chmod(0o755)
        one = Site(Cluster(name, folder), directory, collect(directory, store))
        try:
            options = clusters.AgentOptions(jar=stage_agent(directory), dir=directory)
            made = clusters.up(name, agent=options)
            try:
                yield one
            finally:
                made.down()
        finally:
            one.collector.terminate()
            one.collector.wait(timeout=180)
