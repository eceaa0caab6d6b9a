"""A lab as a user drives it: through the command line, with a store of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import commands
from tests.e2e.truth import Attempt, Block, Run

from iostrata_lab import clusters
from iostrata_lab.clusters import cgroups, mounted, namespaces
from iostrata_lab.clusters.hadoop.history import JobHistory

FSCK_BLOCK = re.compile(r"blk_(?P<number>\d+)_\d+ len=(?P<size>\d+) Live_repl=(?P<replicas>\d+)")
JOB = re.compile(r"Running job: (job_\d+_\d+)")
# A second attempt of a slow task would write again what the expected counts hold once.
ONE_ATTEMPT = ("-Dmapreduce.map.speculative=false", "-Dmapreduce.reduce.speculative=false")
DFSIO = ("hadoop", "org.apache.hadoop.fs.TestDFSIO", *ONE_ATTEMPT)


class Cluster:
    """A running lab, its store and the commands of iostrata on it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.store = folder / "store"
        self.environment = {**os.environ, "IOSTRATA_STORE": str(self.store)}

    def iostrata(self, *arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Runs a command of iostrata; its output is shown when the test fails."""
        done = commands.run(arguments, self.environment, self.folder, timeout)
        print(f"$ iostrata {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done

    def record(self, run: str, *command: str, options: tuple[str, ...] = ()) -> str:
        """Records a command that must succeed; returns its standard error."""
        done = self.iostrata(
            "record", "--lab", self.name, "--run", run, *options, "--", *command, timeout=420
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stderr

    def dfsio(
        self,
        run: str,
        mode: str,
        files: int,
        size: str,
        options: tuple[str, ...] = (),
        more: tuple[str, ...] = (),
    ) -> str:
        """Records TestDFSIO (write or read, one map per file); returns the id of its job.

        `options` are of `iostrata record`, `more` are of Hadoop.
        """
        command = (*DFSIO, *more, f"-{mode}", "-nrFiles", str(files), "-size", size)
        output = self.record(run, *command, options=options)
        found = JOB.search(output)
        assert found, output[-4000:]
        return found[1]

    def run(self, name: str) -> Run:
        return Run(self.store, name)

    def hadoop(self, *command: str) -> str:
        """Runs a Hadoop command that is not recorded."""
        found = clusters.find(self.name)
        done = found.run(list(command), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def going_on(self) -> list[str]:
        """Names of the applications that have not ended, by the ResourceManager."""
        states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
        at = clusters.find(self.name).state.at("resourcemanager-http")
        found = asked(at, f"/ws/v1/cluster/apps?states={states}")["apps"] or {}
        return [app["name"] for app in found.get("app", ())]

    def history(self, job: str) -> JobHistory:
        return clusters.find_hadoop(self.name).job_history(job)

    def attempts(self, job: str) -> list[Attempt]:
        """The successful attempts of a job, by the job history."""
        found = []
        for attempt in self.history(job).attempts:
            assert attempt.state == "SUCCEEDED", f"{attempt.name} {attempt.state}"
            counters = attempt.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]
            found.append(
                Attempt(attempt.name, counters["HDFS_BYTES_READ"], counters["HDFS_BYTES_WRITTEN"])
            )
        return found

    def blocks(self, path: str) -> list[Block]:
        """The blocks below a path of HDFS, by the NameNode."""
        listing = self.hadoop("hdfs", "fsck", path, "-files", "-blocks")
        return [
            Block(int(m["number"]), int(m["size"]), int(m["replicas"]))
            for m in FSCK_BLOCK.finditer(listing)
        ]

    def summary(self, run: str) -> dict[str, Any]:
        done = self.iostrata("summary", run, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def skip_without(programs: Iterable[str]) -> None:
    """Of a file system that not every machine has."""
    lacks = [program for program in programs if not mounted.found(program)]
    if lacks:
        pytest.skip(f"{', '.join(lacks)} not installed: scripts/setup-storage")


def asked(at: str, path: str) -> dict[str, Any]:
    """What a daemon that is up says at `path`: on a busy host one answer may take too long."""
    from iostrata_lab.clusters.hadoop import ready

    end = time.monotonic() + 120
    while not (found := ready.answer(at, path)):
        assert time.monotonic() < end, f"{at} does not say {path}"
    return found


def left(of: clusters.Lab) -> list[str]:
    """What there is of a lab outside of its namespaces and its folder."""
    wires = [name for name in namespaces.interfaces() if name == f"iolab-{of.state.subnet}"]
    mounts = [row for row in Path("/proc/mounts").read_text().splitlines() if str(of.root) in row]
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    loops = [name for path in files if (name := path.read_text()).startswith(str(of.root))]
    there = cgroups.controllers()
    groups = {str(one.group(of.name)) for one in there.values() if one.group(of.name).exists()}
    devices = [node.device for node in of.nodes()]
    tables = (path.read_text() for path in there["io"].root.glob("blkio.throttle.*_bps_device"))
    throttles = [row for text in tables for row in text.splitlines() if row.split()[0] in devices]
    return [*wires, *mounts, *loops, *groups, *throttles]


@contextmanager
def lab_up(folder: Path, name: str, *options: str, system: str = "hadoop") -> Iterator[Cluster]:
    """A lab that is gone afterwards, whatever happened."""
    cluster = Cluster(name, folder)
    started = cluster.iostrata("lab", "up", system, "--name", name, *options)
    try:
        assert started.returncode == 0, started.stderr
        yield cluster
    finally:
        stopped = cluster.iostrata("lab", "down", name)
        assert stopped.returncode == 0, stopped.stderr
