"""File systems beside HDFS: each byte on its way from a rank to the disks of the servers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster, lab_up, left, skip_without
from tests.e2e.serving import wait_until

from iostrata_lab import clusters
from iostrata_lab.clusters import cephfs, moosefs, mounted, processes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.in_turn("moosefs", "cephfs"),
    pytest.mark.skipif(os.geteuid() != 0, reason="file systems need root: nodes, mounts"),
]
SAVED = {"ranks": 3, "checkpoints": 2, "block": 1 << 20, "transfer": 1 << 18}
BYTES = 3 * 2 * (1 << 20)
SET = [word for item in SAVED.items() for word in ("--set", "=".join(map(str, item)))]


@dataclass(frozen=True)
class Kind:
    """What is told apart: programs, options, and how often a byte is on a disk."""

    system: str
    programs: tuple[str, ...]
    server: str
    client: str
    copies: int
    options: tuple[str, ...]
    takes: tuple[str, str]  # what the client takes from the kernel: category and operation
    gives: tuple[str, str]  # and what it sends to servers
    counter: str  # of the kernel, for what a server writes
    counted: str  # what is compared with it


KINDS = (
    Kind(
        *("moosefs", moosefs.PROGRAMS, "mfschunkserver", "mfsmount", 2),
        ("--nodes", "3", "--racks", "2"),
        ("file", "read"),
        ("socket", "write"),
        *("wchar", "op IN ('write', 'send')"),
    ),
    Kind(  # whose servers write by libaio, which only the device's account has
        *("cephfs", cephfs.PROGRAMS, "ceph-osd", "ceph-fuse", 2),
        ("--nodes", "3", "--racks", "2"),
        ("file", "transfer"),
        ("socket", "send"),
        *("write_bytes", "op = 'write' AND category = 'file'"),
    ),
)


POOL = """
name = "rbd"
pool = "images"
[dimensions]
access = ["sequential", "90-10"]
size = ["4MiB", "8MiB"]
clients = [2]
[measure]
repetitions = [1, 1]
others = 1
"""


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.system)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    skip_without(found.programs)
    return found


@pytest.fixture(scope="module")
def cluster(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A lab of which nothing may be left."""
    name = f"storage-{kind.system}-{os.getpid()}"
    folder = tmp_path_factory.mktemp(kind.system)
    with lab_up(folder, name, *kind.options, system=kind.system) as cluster:
        found = clusters.find(cluster.name)
        yield cluster
    assert not found.root.exists()
    assert left(found) == []


def of_device(number: str) -> int:
    """Bytes that were written to a block device."""
    return int(Path(f"/sys/dev/block/{number}/stat").read_text().split()[6]) * 512


def asked(cluster: Cluster, sql: str) -> list[dict[str, Any]]:
    done = cluster.iostrata("query", sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_bytes_go_through_the_client_to_the_disks(kind: Kind, cluster: Cluster) -> None:
    words = ("--lab", cluster.name, "--record", "--run", "saved", "--json", *SET)
    done = cluster.iostrata("workload", "run", "checkpoint", *words)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["result"]
    assert said["bytes"] == BYTES
    assert str(clusters.find(cluster.name).root) in said["file_system"]
    sql = "SELECT host, role, category, op, sum(bytes)::BIGINT AS bytes FROM sums GROUP BY ALL"
    moved: Counter[tuple[str, str, str]] = Counter()
    hosts = set()
    for row in asked(cluster, sql):
        moved[row["role"], row["category"], row["op"]] += row["bytes"] or 0
        if row["role"] == kind.server:
            hosts.add(row["host"])
    sql = (
        "SELECT sum(bytes)::BIGINT AS bytes FROM calls WHERE role = 'rank' AND op = 'write' "
        "AND target LIKE '%/checkpoint-%'"
    )
    assert asked(cluster, sql) == [{"bytes": BYTES}]
    # The same bytes, each behind the header of a request. A call that its threads have waited in
    # since before the run begins is not of the run: what was asked of the kernel may lack some.
    assert BYTES <= moved[(kind.client, *kind.gives)] < 1.05 * BYTES
    assert 0.5 * BYTES < moved[(kind.client, *kind.takes)] < 1.05 * BYTES
    # On disks once for each copy, with what the server keeps of each block.
    on_disks = moved[kind.server, "file", "write"]
    assert kind.copies * BYTES <= on_disks < 1.5 * kind.copies * BYTES
    assert hosts == {node.name for node in clusters.find(cluster.name).nodes()}


def test_servers_are_traced_as_the_kernel_counts(
    kind: Kind, cluster: Cluster, tmp_path: Path
) -> None:
    """All that each server writes to files and sockets, but for what it does beside the run."""
    source = tmp_path / "random"  # MooseFS does not write zeros
    source.write_bytes(os.urandom(16 << 20))
    lab = clusters.find(cluster.name)
    target = Path(lab.environment()[mounted.VARIABLE]) / "counted"
    command = ("dd", f"if={source}", f"of={target}", "bs=1M", "conv=fsync")
    pids = [daemon.pid for daemon in lab.daemons() if daemon.role.startswith(kind.server)]
    before = {pid: written(pid, kind.counter) for pid in pids}
    on_disks = {node.name: of_device(node.device) for node in lab.nodes()}
    said = cluster.record("counted", *command, options=("--native",))
    after = {pid: written(pid, kind.counter) for pid in pids}
    grown = {node.name: of_device(node.device) - on_disks[node.name] for node in lab.nodes()}
    # Each node's disk is listed, and did what the kernel says of it, but for what is outside of
    # the run.
    devices = asked(
        cluster,
        "SELECT host, mount, sum(written)::BIGINT AS bytes FROM devices "
        "WHERE host <> (SELECT any_value(host) FROM system) GROUP BY ALL",
    )
    assert {row["host"] for row in devices} == grown.keys()
    assert {Path(row["mount"]).name for row in devices} == {"disk"}
    assert all(0 <= row["bytes"] <= grown[row["host"]] for row in devices)
    sql = (
        f"SELECT pid, sum(bytes)::BIGINT AS bytes FROM sums WHERE role = '{kind.server}' "
        f"AND {kind.counted} GROUP BY pid"
    )
    traced = {row["pid"]: row["bytes"] for row in asked(cluster, sql)}
    whole = sum(traced.values())
    assert whole >= kind.copies * (16 << 20)
    for pid in pids:
        # A server also talks to its master before the run begins and after it has ended.
        assert 0 <= after[pid] - before[pid] - traced.get(pid, 0) < 1 << 18
    assert re.search(r"traced (\d+)/\1 processes, 0 dropped", said), said
    target.unlink()


def written(pid: int, counter: str) -> int:
    """Bytes that a process has written, by the kernel."""
    text = Path(f"/proc/{pid}/io").read_text("utf-8")
    return int(dict(line.split(": ") for line in text.splitlines())[counter])


def test_what_is_deleted_is_not_kept_for_a_day(kind: Kind, cluster: Cluster) -> None:
    if kind.system != "moosefs":
        pytest.skip(f"{kind.system} keeps nothing that was deleted")
    file = mounted.mount_point(clusters.find(cluster.name).root) / "deleted"
    file.write_bytes(b"x")
    said = subprocess.check_output(["mfsgettrashtime", str(file)], text=True)
    file.unlink()
    assert said.split() == [f"{file}:", "0"]


def test_what_was_killed_is_cleaned_up_by_the_next_start(kind: Kind, cluster: Cluster) -> None:
    """All processes end at once, and leave a mount that nobody serves."""
    name = f"{cluster.name}-killed"
    up = (sys.executable, "-m", "iostrata", "lab", "up", kind.system, "--name", name, "--untraced")
    environment = {**cluster.environment}
    subprocess.run(up, check=True, env=environment, capture_output=True)
    lab = clusters.find(name)
    all_of_it = [*(daemon.identity for daemon in lab.daemons()), *(n.holder for n in lab.nodes())]
    for process in all_of_it:
        os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not any(map(processes.alive, all_of_it)), 60)  # a kill is not yet an end
    again = subprocess.run(up, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "removing what is left of lab" in again.stderr
    found = clusters.find(name)
    found.down()
    assert not found.root.exists()
    assert left(found) == []


def test_a_pool_is_profiled_by_images(kind: Kind, cluster: Cluster, tmp_path: Path) -> None:
    """GIVEN a pool with an image of a profile that was killed
    THEN fio reads and writes images of its own, and none is left."""
    if kind.system != "cephfs":
        pytest.skip("moosefs has no pools")
    environment = {**cluster.environment, **clusters.find(cluster.name).environment()}
    for words in (
        ["ceph", "osd", "pool", "create", "images", "8"],
        ["rbd", "create", "--size", "1M", "images/iostrata-profile-rbd.read.7"],
    ):
        subprocess.run(words, env=environment, check=True, capture_output=True)
    spec = tmp_path / "rbd.toml"
    spec.write_text(POOL)
    profile = ("profile", str(spec), "--yes", "--quiet", "--json", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "iostrata", *profile],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "rbd" / "samples.jsonl").read_text().splitlines()
    samples = [json.loads(line) for line in lines]
    assert len(samples) == 2 * 2 * 2
    assert all(one["bytes"] == 2 * one["point"]["size"] for one in samples)
    assert subprocess.check_output(["rbd", "ls", "images"], env=environment) == b""


def test_hadoop_is_not_looked_for_there(kind: Kind, cluster: Cluster) -> None:
    done = cluster.iostrata("workload", "run", "terasort", "--lab", cluster.name)
    assert done.returncode == 2
    assert f"lab {cluster.name} runs {kind.system}" in done.stderr


def test_what_cannot_be_is_said_before_anything_starts(kind: Kind, cluster: Cluster) -> None:
    done = cluster.iostrata("lab", "up", kind.system, "--name", cluster.name)
    assert done.returncode == 2
    assert "is already running" in done.stderr
    wrong = ("--name", "other", "--nodes", "1", "--copies", "2")
    done = cluster.iostrata("lab", "up", kind.system, *wrong)
    assert done.returncode == 2
    assert "2 copies on 1 nodes" in done.stderr
