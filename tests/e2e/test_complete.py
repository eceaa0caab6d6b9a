"""What is not traced is named, whoever knows of it: /proc, the NameNode, the job history."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.cluster import DFSIO, Cluster
from tests.e2e.labs import TWO, Labs
from tests.e2e.pipelines import is_named, kill_while_writing

from iostrata_lab import clusters
from iostrata_lab.clusters.daemons import MARK

pytestmark = pytest.mark.cluster

DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"


@dataclass(frozen=True)
class Recorded:
    """A run on a cluster that is traced in part."""

    cluster: Cluster
    untraced: str  # address of the DataNode without agent
    process: subprocess.Popen[str]  # that DataNode
    lines: list[str]  # of its summary


@pytest.fixture(scope="module")
def recorded(labs: Labs) -> Iterator[Recorded]:
    """One map and one reduce; neither they nor the second DataNode have an agent.

    The map's JVM hides from /proc too, as one on a host without a collector would.
    """
    cluster = labs.at(*TWO)
    process, address = restart_without_agent(cluster)
    try:
        java = Path(clusters.find(cluster.name).state.java_home) / "bin/java"
        hidden = jdk(cluster.folder / "hidden", java, "task")
        plain = jdk(cluster.folder / "plain", java, "java")
        options = [f"-Dmapreduce.map.env=JAVA_HOME={hidden}"]
        options += [f"-Dmapreduce.reduce.env=JAVA_HOME={plain}"]
        command = [*DFSIO, *options, "-write", "-nrFiles", "1", "-size", "1MB"]
        cluster.record("in-part", *command)
        done = cluster.iostrata("summary", "in-part", "--full")
        yield Recorded(cluster, address, process, done.stdout.splitlines())
    finally:
        process.kill()
        process.wait()
        labs.close()


def restart_without_agent(cluster: Cluster) -> tuple[subprocess.Popen[str], str]:
    """Kills the second DataNode and starts it by its class, so without a daemon's options.

    Returns the process and the address that the NameNode lists for it.
    """
    found = clusters.find_hadoop(cluster.name)
    (old,) = (daemon.pid for daemon in found.daemons() if daemon.role == "datanode-2")
    before = {address for address, *_ in found.datanodes()}
    os.kill(old, signal.SIGKILL)
    data = f"dfs.datanode.data.dir=file://{found.root}/data/datanode-2"
    process = found.popen(
        ["hdfs", DATANODE, "-D", data],
        env={MARK: str(found.root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        now = {address for address, *_ in found.datanodes()}
        if len(now) == 2 and now - before:
            return process, (now - before).pop()
        time.sleep(0.2)
    process.kill()
    process.wait()
    raise AssertionError(f"the NameNode still lists {before}")


def jdk(home: Path, java: Path, name: str) -> Path:
    """A JAVA_HOME of a job's own, whose `java` drops the agent and runs the real one as `name`."""
    (home / "bin").mkdir(parents=True)
    (home / name).symlink_to(java)
    launcher = home / "bin/java"
    launcher.write_text(f'#!/bin/sh\nunset JAVA_TOOL_OPTIONS\nexec {home}/{name} "$@"\n')
    launcher.chmod(0o755)
    return home


def test_the_first_line_counts_what_is_missing(recorded: Recorded) -> None:
    # client, ApplicationMaster, NameNode, one DataNode, ResourceManager, NodeManager; not the tasks
    assert recorded.lines[0] == "traced 6/8 processes, 1/2 DataNodes, 0 dropped"


def test_each_missing_one_is_named(recorded: Recorded) -> None:
    missing = [line for line in recorded.lines if line.startswith("not traced: ")]
    started = recorded.cluster.summary("in-part")["processes"]["attempts"]
    (hidden,) = (attempt for attempt in started if "_m_" in attempt)
    (plain,) = (attempt for attempt in started if "_r_" in attempt)
    datanode, of_map, of_reduce = (
        [line for line in missing if name in line] for name in (recorded.untraced, hidden, plain)
    )
    assert datanode == [
        f"not traced: DataNode {recorded.untraced} (the NameNode lists it, no traced process is it)"
    ]
    assert len(of_map) == 1
    assert len(of_reduce) == 1
    assert of_reduce[0].startswith("not traced: reduce pid ")
    assert of_reduce[0].endswith(f", {plain} (no agent)")
    assert len(missing) == 3


def test_the_host_has_a_history(recorded: Recorded) -> None:
    """From before the client's first call on, without a hole."""
    (line,) = (line for line in recorded.lines if line.startswith("host "))
    assert "CPU" in line
    found = recorded.cluster.summary("in-part")
    (host,) = found["hosts"]
    assert 0 < host["cpu"] <= host["cpu_max"]
    query = (
        "SELECT sum(interval)::BIGINT AS sampled, max(time + interval) - min(time) AS spanned, "
        "min(time) <= (SELECT min(start) FROM calls WHERE role = 'client') AS early FROM system"
    )
    done = recorded.cluster.iostrata("query", query, "--run", "in-part", "--format", "json")
    (row,) = json.loads(done.stdout)
    assert row == {"sampled": host["interval"], "spanned": host["interval"], "early": True}
    assert host["net_loopback"] > 2 * 1024 * 1024  # the file, to two DataNodes


def test_an_untraced_datanode_that_dies_in_a_pipeline_is_named(recorded: Recorded) -> None:
    """The last of this file: what is known of it is what its client knows."""
    cluster = recorded.cluster
    killed = kill_while_writing(cluster, "left", lambda _: recorded.untraced, recorded.process.pid)
    lost = is_named(cluster, "left", killed, "left the write pipeline")
    assert (lost["host"], lost["fate"]) == (None, "left")
