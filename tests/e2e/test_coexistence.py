"""Beside a second agent, whichever comes first: results, exit codes and sums are as alone."""

from __future__ import annotations

import os
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.jdks import JDKS
from tests.e2e.labs import Labs
from tests.e2e.serving import Node, serving
from tests.e2e.truth import CLIENT_WRITE, COVERED, Run

from iostrata_lab import clusters
from iostrata_lab.clusters.hadoop.jars import cache
from iostrata_lab.clusters.processes import listening

CALLS = 300
SIZE = 3_000_000
JMX = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
JMX_SERVER = "io.prometheus.metrics.exporter.httpserver.HTTPServer"
OTEL = "io.opentelemetry.javaagent:opentelemetry-javaagent:2.20.1"
OTEL_SILENT = [f"-Dotel.{kind}.exporter=none" for kind in ("traces", "metrics", "logs")]
OTHERS = ("jmx_exporter", "opentelemetry")
ORDERS = ("before", "after")


def jar(artifact: str) -> Path:
    """From Maven Central, once, into the cache of the labs."""
    _, name, version = artifact.split(":")
    path = cache() / f"{name}-{version}.jar"
    if not path.exists():
        command = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}"]
        subprocess.run([*command, f"-DoutputDirectory={cache()}"], check=True)
    return path


def options_of(other: str, folder: Path) -> list[str]:
    """What loads the other agent, and its settings."""
    if other == "opentelemetry":
        return [f"-javaagent:{jar(OTEL)}", *OTEL_SILENT]
    settings = folder / "jmx.yaml"
    settings.write_text('rules:\n- pattern: ".*"\n')
    # a port that is free, which the kernel chooses
    return [f"-javaagent:{jar(JMX)}=127.0.0.1:0:{settings}"]


def sums(run: Run, where: str) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Calls and bytes by layer, operation and category."""
    query = (
        "SELECT layer, op, category, sum(count)::BIGINT, sum(bytes)::BIGINT FROM events "
        f"WHERE kind = 'sum' AND {where} GROUP BY ALL"
    )
    return {(layer, op, of): (count, size) for layer, op, of, count, size in run.rows(query)}


def lives(other: str, pid: int, said: str) -> None:
    """The other agent does what it is there for."""
    if other == "opentelemetry":
        assert "opentelemetry-javaagent - version: 2.20.1" in said
        assert "ERROR" not in said
        return
    (port,) = listening(pid)
    # the JVM names itself as it would without us
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=180) as answer:
        text = answer.read().decode()
    assert answer.status == 200
    assert "java_lang_Memory_HeapMemoryUsage_used" in text


@pytest.mark.drawn("second agents", 2)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", JDKS)
def test_files(
    version: str, other: str, order: str, tmp_path: Path, classes: Path, here: Node
) -> None:
    """GIVEN a JVM with both WHEN it writes and reads THEN each call of its own counts once."""
    theirs = options_of(other, tmp_path)
    ours = [f"-javaagent:{here.dir}/iostrata-agent.jar=dir={here.dir},run=one"]
    options = [*theirs, *ours] if order == "before" else [*ours, *theirs]
    log = tmp_path / "stderr"
    with (
        log.open("w") as stderr,
        serving(classes, JDKS[version], *options, stderr=stderr) as jvm,
    ):
        with here.recording("one"):
            assert jvm.tell("io", tmp_path / "data", CALLS) == f"io {CALLS * 16}"
        lives(other, jvm.pid, log.read_text())
    said = log.read_text()
    print(said)
    assert f"ready in {here.dir}" in said
    assert (tmp_path / "data").read_bytes() == bytes(16 * CALLS)
    run = Run(here.store, "one")
    found = sums(run, "thread = 'main' AND category = 'file' AND op IN ('read', 'write')")
    exact = (CALLS, CALLS * 16)
    assert found == {("java", "read", "file"): exact, ("java", "write", "file"): exact}
    assert not any(run.losses().values())
    assert run.rows("SELECT points_faulted FROM processes WHERE traced") == [("",)]


@dataclass(frozen=True)
class Alone:
    """A file put into HDFS without another agent."""

    cluster: Cluster
    data: Path
    sums: dict[tuple[str, str, str], tuple[int, int]]


FS = "role = 'client' AND layer = 'fs' AND category = 'hdfs'"


@pytest.fixture(scope="module")
def alone(labs: Labs) -> Alone:
    cluster = labs.at()
    data = cluster.folder / "data"
    data.write_bytes(os.urandom(SIZE))
    cluster.record("alone", "hdfs", "dfs", "-put", str(data), "/alone")
    return Alone(cluster, data, sums(cluster.run("alone"), FS))


@pytest.mark.cluster
@pytest.mark.drawn("clients with second agents", 1)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("other", OTHERS)
def test_an_hdfs_client(other: str, order: str, tmp_path: Path, alone: Alone) -> None:
    """GIVEN a client with both THEN what it writes is the same, and so is what it did."""
    cluster, name = alone.cluster, f"{other}-{order}"
    loaded = tmp_path / "loaded"  # the JVM's own list of the classes that it loads
    theirs = " ".join((*options_of(other, tmp_path), f"-Xlog:class+load:file={loaded}"))
    # a JVM loads the agents of this variable first, and ours stands at its end
    variable = "JAVA_TOOL_OPTIONS" if order == "before" else "HADOOP_CLIENT_OPTS"
    cluster.environment[variable] = theirs
    try:
        said = cluster.record(name, "hdfs", "dfs", "-put", str(alone.data), f"/{name}")
    finally:
        del cluster.environment[variable]
    # its server of metrics was there, which its premain starts; a premain that fails ends the JVM
    assert (f" {JMX_SERVER} source:" in loaded.read_text()) == (other == "jmx_exporter")
    if other == "opentelemetry":
        assert "opentelemetry-javaagent - version: 2.20.1" in said
    listing = cluster.hadoop("hdfs", "dfs", "-checksum", "/alone", f"/{name}").split()
    assert listing[2] == listing[5]
    run = cluster.run(name)
    assert sums(run, FS) == alone.sums
    written = f"kind = 'sum' AND {CLIENT_WRITE} AND (flags & {COVERED}) = 0"
    assert run.one(f"SELECT sum(bytes)::BIGINT FROM events WHERE {written}") == SIZE
    assert not any(run.losses().values())
    assert clusters.find(cluster.name).running
