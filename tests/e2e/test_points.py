"""Each declared point, fired on purpose: what is listed as traced is traced."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.cluster import Cluster, lab_up
from tests.e2e.conftest import Iostrata, Verifies
from tests.e2e.test_java import JDKS
from tests.e2e.truth import Run

from iostrata import lab

HERE = Path(__file__).parent

# What one call on each file moves, and the operation it is counted under.
FILES = {
    "in.byte": ("read", 1),
    "in.array": ("read", 100),
    "in.range": ("read", 50),
    "in.all": ("read", 100),
    "in.n": ("read", 60),
    "out.byte": ("write", 1),
    "out.array": ("write", 100),
    "out.range": ("write", 40),
    "raf.read.byte": ("read", 1),
    "raf.read.array": ("read", 100),
    "raf.read.range": ("read", 70),
    "raf.write.byte": ("write", 1),
    "raf.write.array": ("write", 100),
    "raf.write.range": ("write", 30),
    "raf.write.text": ("write", 12),
    "ch.read": ("read", 20),
    "ch.read.at": ("read", 10),
    "ch.read.scatter": ("read", 25),
    "ch.to": ("transfer", 55),
    "ch.write": ("write", 20),
    "ch.write.at": ("write", 20),
    "ch.write.gather": ("write", 25),
    "ch.from": ("write", 45),
    "ch.force": ("sync", 0),
    "ch.map": ("map", 80),
    "async.read": ("read", 30),
    "async.read.end": ("read", 0),
    "async.read.handler": ("read", 10),
    "async.write": ("write", 30),
    "async.force": ("sync", 0),
}
SINCE_22 = {"ch.map.arena": ("map", 50)}
# Each is called once, but for writes to channels: each file begins as one of 100 bytes, written so.
ONCE = {*range(1, 7), *range(11, 14), 15, 16, *range(21, 30), *range(31, 40)} - {34}


@pytest.mark.parametrize("version", JDKS)
def test_every_file_call(
    version: str, tmp_path: Path, program: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    if not JDKS[version].is_dir():
        pytest.skip(f"JDK {version} is not at {JDKS[version]}")
    folder = tmp_path / "files"
    folder.mkdir()
    java = str(JDKS[version] / "bin/java")
    command = (java, "-cp", str(program), "EveryFileCall", str(folder))
    assert iostrata("record", "--run", "r", "--", *command).returncode == 0
    run = Run(tmp_path / "store", "r")
    found = {
        Path(target).name: (op, count, total)
        for target, op, count, total in run.rows(
            "SELECT target, op, count(*), sum(bytes)::BIGINT FROM events WHERE kind = 'call' "
            f"AND layer = 'java' AND (flags & 1) = 0 AND target LIKE '{folder}/%' "
            "AND (target LIKE '%/out.%' OR op IN ('read', 'transfer', 'sync', 'map') "
            "OR target LIKE '%write%' OR target LIKE '%ch.from') "
            # making the file to be read or overwritten is a write of 100 through a channel
            "AND NOT (op = 'write' AND point = 34 AND bytes = 100) GROUP BY ALL"
        )
    }
    transfer = found.pop("in.transfer")  # the stream's own method from JDK 20 on
    assert transfer[2] == 100
    newest = version == "25"
    expected = FILES | SINCE_22 if newest else FILES
    assert found == {name: (op, 1, size) for name, (op, size) in expected.items()}
    if newest:
        files = sum(not name.startswith("out.") for name in ("in.transfer", *expected))
        counts = dict.fromkeys(ONCE, 1) | {14: 3, 34: files + 1}
        verifies(run, counts, where="category = 'file' AND (flags & 1) = 0")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with lab_up(tmp_path_factory.mktemp("points"), f"points-{os.getpid()}") as cluster:
        yield cluster


@pytest.mark.cluster
def test_every_hdfs_call(cluster: Cluster, verifies: Callable[[Path, str], None]) -> None:
    found = lab.find(cluster.name)
    classes = cluster.folder / "classes"
    path = found.environment()["CLASSPATH"]
    source = str(HERE / "EveryHdfsCall.java")
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    cluster.record("r", "java", "-cp", f"{classes}:{path}", "EveryHdfsCall", "/every")
    run = cluster.run("r")
    read = run.one(
        "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'hdfs' "
        "AND op = 'read' AND (flags & 32) = 0"
    )
    pooled = run.one("SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND point = 95")
    assert read == 1 + 1000 + 2000 + 3000 + 4000 + 5000 + pooled
    assert 0 < pooled <= 600
    written = run.one(
        "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'fs' "
        "AND op = 'write' AND category = 'hdfs' AND (flags & 32) = 0"
    )
    assert written == 100_000
    ops = {row[0] for row in run.rows("SELECT DISTINCT op FROM events WHERE layer = 'hdfs'")}
    assert ops >= {
        "create",
        "open",
        "rename",
        "delete",
        "mkdirs",
        "list",
        "stat",
        "locate",
        "close",
    }
    syncs = run.one("SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND op = 'disk_sync'")
    assert syncs >= 2  # hsync: the block's file and its checksums
    verifies(cluster.store, "r")
