"""Jobs of short tasks, and daemons that outlive many recordings: nothing is left behind.

`make test` takes a few rounds; with SOAK=1 rounds go on for SOAK_SECONDS (an hour), with 200
tasks at the least, and each is a line of SOAK_LOG (bench/runs/DATE-soak/soak.jsonl).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, ONE_ATTEMPT
from tests.e2e.footprint import (
    Footprint,
    footprint,
    held,
    left_in_tmp,
    wait_gone,
)
from tests.e2e.mapreduce import examples
from tests.e2e.serving import wait_until
from tests.e2e.site import Site, site_up

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.getuid() != 0, reason="needs root for a mount"),
]

SOAK = "SOAK" in os.environ
SECONDS = float(os.environ.get("SOAK_SECONDS", "3600")) if SOAK else 0.0
TASKS = 200 if SOAK else 10
MAPS = 24 if SOAK else 4
SWITCHES = 10 if SOAK else 3  # recordings of nothing between two jobs
ROOT = Path(__file__).resolve().parents[2]
LOG = Path(os.environ.get("SOAK_LOG", ROOT / f"bench/runs/{time.strftime('%F')}-soak/soak.jsonl"))
DAEMONS = ("namenode", "datanode-1", "resourcemanager", "nodemanager")
# Hadoop's own: caches of blocks and of applications, pools of handlers and transfer threads,
# connections that are kept. They move by themselves; a leak of ours would be one a call or thread.
HEAP_MOVES = 24 << 20
THREADS_MOVE = 80
DESCRIPTORS_MOVE = 80
# It keeps up to a million names of each process for as long as that lives: some 200 bytes each.
COLLECTOR_MOVES = (512 if SOAK else 64) << 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("soak")


class Soak:
    """The site, and what its daemons held after each round."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pids = {role: site.daemon(role) for role in DAEMONS}
        self.java = Path(site.lab.state.java_home)
        self.rounds: list[dict[str, Footprint]] = []
        self.tasks = 0
        self.jvms: set[int] = set(self.pids.values())

    def job(self, run: str) -> None:
        """Records a job of short tasks; each of them is traced and has ended in good order."""
        jar = examples(self.site.cluster)
        words = ("hadoop", "jar", jar, "pi", *ONE_ATTEMPT, str(MAPS), "10")
        with self.site.popen(run, *words) as recorder:
            output, _ = recorder.communicate(timeout=900)
        assert recorder.returncode == 0, output[-4000:]
        assert "Estimated value of Pi is 3." in output
        found = JOB.search(output)
        assert found
        attempts = {one.name for one in self.site.cluster.history(found[1]).attempts}
        processes = self.site.cluster.run(run).rows(
            "SELECT pid, role, task FROM processes WHERE traced"
        )
        assert {task for _, _, task in processes if task} == attempts
        self.jvms |= {pid for pid, _, _ in processes}
        self.tasks += len(attempts)

    def switch(self, run: str) -> None:
        """A recording that is over at once: the daemons go on and off."""
        with self.site.popen(run, "true") as recorder:
            output, _ = recorder.communicate(timeout=120)
        assert recorder.returncode == 0, output

    def measure(self) -> None:
        found = {
            role: footprint(pid, self.java, self.site.directory) for role, pid in self.pids.items()
        }
        self.rounds.append(found)
        row = {
            "time": time.strftime("%FT%TZ", time.gmtime()),
            "round": len(self.rounds),
            "tasks": self.tasks,
            "traces_bytes": used(self.site.directory),
            "spool_bytes": used(self.site.cluster.store / ".spool"),
            "collector": self.collector(),
            "daemons": {role: one.row() for role, one in found.items()},
        }
        print(json.dumps(row))
        if SOAK:
            LOG.parent.mkdir(parents=True, exist_ok=True)
            with LOG.open("a") as log:
                log.write(json.dumps(row) + "\n")

    def collector(self) -> dict[str, int]:
        pid = self.site.collector.pid
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines)
        return {
            "rss_bytes": int(status["VmRSS"].split()[0]) << 10,
            "threads": int(status["Threads"]),
            "descriptors": len(held(pid)),
        }

    def traces(self) -> list[str]:
        """Directories of processes in shared memory: PID-PROC."""
        return [path.name for path in self.site.directory.glob("[0-9]*/*-*")]

    def traced(self) -> list[int]:
        return sorted(int(name.split("-")[0]) for name in self.traces())


def used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_nothing_grows_and_nothing_is_left(place: Path) -> None:
    with site_up(place, f"soak-{os.getpid()}", "512m") as site:
        soak = Soak(site)
        # the first job makes what is made once: classes, pools, connections, segments
        soak.job("soak-warm")
        only_daemons(soak)
        soak.measure()
        collector, until = soak.collector(), time.monotonic() + SECONDS
        while soak.tasks < TASKS or time.monotonic() < until:
            number = len(soak.rounds)
            soak.job(f"soak-{number}")
            for i in range(SWITCHES):
                soak.switch(f"soak-{number}-{i}")
            only_daemons(soak)
            soak.measure()
        for role in DAEMONS:
            as_it_was(role, [one[role] for one in soak.rounds])
        now = soak.collector()
        assert now["threads"] == collector["threads"]
        assert now["descriptors"] == collector["descriptors"]
        # its tables of ended processes and runs are let go; the allocator keeps some of the pages
        assert now["rss_bytes"] < collector["rss_bytes"] + COLLECTOR_MOVES
        spool = site.cluster.store / ".spool"
    # all of its JVMs are gone, and with them what they had in /tmp
    wait_gone(soak.jvms, site.directory)
    # who waits to be reaped is alive for a JVM that cleans up
    gone = {pid for pid in soak.jvms if not Path(f"/proc/{pid}").exists()}
    for path in left_in_tmp(gone):
        if path.is_socket():
            path.unlink()  # of our jcmd: a lab that goes down kills its daemons
    # a JVM that starts removes what those that were killed have left there
    subprocess.run([soak.java / "bin/java", "-version"], check=True, capture_output=True)
    assert left_in_tmp(gone) == []
    assert not [path for path in spool.rglob("*") if path.suffix == ".spool"]
    for folder in (Path("/tmp"), Path("/dev/shm")):
        assert [path for path in folder.iterdir() if site.cluster.name in path.name] == []


def only_daemons(soak: Soak) -> None:
    """In shared memory are the living and nobody else; no run is asked for."""
    wait_until(lambda: soak.traced() == sorted(soak.pids.values()))
    wait_until(lambda: not list((soak.site.directory / "runs").iterdir()))


def as_it_was(role: str, rounds: list[Footprint]) -> None:
    """The last round beside the first, and our own things exactly."""
    first, last = rounds[0], rounds[-1]
    most = max(one.threads for one in rounds)
    for one in (first, last):
        assert one.our_threads == 1, role
        assert one.our_descriptors == 0, role  # one could become a file of the program
        for name in ("Recorder", "ControlPage"):
            assert one.instances(name) == 1, (role, name)
        # one a living thread, and one that only counts what it loses
        assert one.instances("ThreadLog") <= one.threads + 1, role
        assert one.instances("Probe") <= one.threads, role
    for one in rounds:
        # A thread that calls for the first time gets one; what ended threads had is given again,
        # so there are never more of those than threads that once lived at a time.
        assert one.segments() <= 2 * most, role
        # Rows are of the last recording that a thread worked for, or 128 at most of more of them:
        # a job brings as many as another.
        logs = one.instances("ThreadLog")
        assert one.rows <= 3 * first.rows + 128 * logs, role
        # what the native writer has of them is outside of this heap
        assert one.our_heap <= logs * (32 << 10) + (1 << 20), role
    assert last.heap < first.heap + HEAP_MOVES, role
    assert last.threads < first.threads + THREADS_MOVE, role
    assert last.descriptors < first.descriptors + DESCRIPTORS_MOVE, role
