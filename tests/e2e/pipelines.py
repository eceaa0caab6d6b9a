"""A client that writes a block for as long as the test wants, and a DataNode killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.serving import wait_until

from iostrata_lab import clusters

REPLICAS = 2
# For so long the DataNode stands still before it dies, and the writer waits for it: a part of the
# run that is worth a finding, however slow the machine is.
STANDS_STILL = 2.0


@dataclass(frozen=True)
class Killed:
    """A DataNode of the pipeline of `file`, killed and noticed between two times since the epoch
    in ns.
    """

    address: str
    file: str
    after: int
    before: int


def kill_while_writing(
    cluster: Cluster, run: str, choose: Callable[[list[str]], str], pid: int = 0
) -> Killed:
    """Records a client that writes with two replicas, and kills the DataNode of its pipeline that
    `choose` takes of their addresses; `pid` is its process where the lab does not know it. The
    client must succeed.
    """
    said, over, file = cluster.folder / f"{run}-said", cluster.folder / f"{run}-over", f"/{run}"
    words = [sys.executable, "-m", "iostrata", "record", "--lab", cluster.name, "--run", run, "--"]
    words += ["java", "-cp", compiled(cluster), "Writes", file, str(REPLICAS), str(said), str(over)]
    with subprocess.Popen(words, env=cluster.environment, cwd=cluster.folder) as recorder:
        try:
            wait_until(lambda: said.exists() or recorder.poll() is not None)
            pipeline = said.read_text().split()
            address = choose(pipeline)
            assert address in pipeline
            pid = pid or pid_of(cluster, address)
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STANDS_STILL)
            after = time.time_ns()
            os.kill(pid, signal.SIGKILL)
        finally:
            over.touch()
        assert recorder.wait(timeout=180) == 0
    return Killed(address, file, after, time.time_ns())


def compiled(cluster: Cluster) -> str:
    """A class path with the client."""
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    classes = cluster.folder / "writes"
    source = str(Path(__file__).with_name("Writes.java"))
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    return f"{classes}:{path}"


def pid_of(cluster: Cluster, address: str) -> int:
    """Of a DataNode, by the address that the NameNode lists."""
    listed = clusters.find_hadoop(cluster.name).datanodes()
    (pid,) = (pid for name, _, _, pid in listed if name == address)
    assert pid is not None
    return pid


def is_named(cluster: Cluster, run: str, killed: Killed, how: str) -> dict[str, Any]:
    """Summary, JSON and findings name the DataNode, once; `how` is what is known of it."""
    (lost,) = (summary := cluster.summary(run))["lost_datanodes"]
    assert (lost["datanode"], lost["file"]) == (killed.address, killed.file)
    assert (lost["pipelines"], lost["recovered"], lost["failed"]) == (1, 1, 0)
    assert killed.after <= lost["at"] <= killed.before
    assert lost["held"] > STANDS_STILL * 0.9 * 10**9
    begin = f"DataNode {killed.address} {how} at "
    first_screen = cluster.iostrata("summary", run).stdout.splitlines()
    assert any(line.startswith(begin) for line in first_screen)
    said = cluster.iostrata("summary", run, "--full").stdout.splitlines()
    at = f"{(lost['at'] - summary['run']['start']) / 1e9:.2f} s"
    (line,) = (line for line in said[:4] if line.startswith("DataNode "))
    begin = f"DataNode {killed.address} {how} at {at}; the write pipeline recovered in "
    assert line.startswith(begin)
    assert line.endswith(f" (1 block, {killed.file})")
    found = cluster.iostrata("findings", run).stdout
    assert "[lost-datanode]" in found
    assert f"DataNode {killed.address} {how} at" in " ".join(found.split())
    found_lost: dict[str, Any] = lost
    return found_lost
