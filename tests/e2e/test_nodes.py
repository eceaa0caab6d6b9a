"""A cluster of hosts on one machine: racks, hosts in the store, brakes, and nothing left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from tests.e2e.cluster import DFSIO, Cluster, asked, lab_up, left
from tests.e2e.pipelines import is_named, kill_while_writing
from tests.e2e.serving import wait_until

from iostrata.store.runs import find_run
from iostrata_lab import clusters
from iostrata_lab.clusters import namespaces
from iostrata_lab.clusters.nodes import Node

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="nodes need root: namespaces, disks, cgroups"),
]

MB = 10**6
SIZE = 4 * MB
ACTIVITY = "Hadoop:service=DataNode,name=DataNodeActivity-*"
ROLES = ("NameNode", "client", "DataNode", "NodeManager")
NAMES = ["node-1.rack-1", "node-2.rack-1", "node-3.rack-2"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes on two racks, of which nothing may be left."""
    here = os.uname().nodename
    folder = tmp_path_factory.mktemp("nodes")
    with lab_up(folder, f"system-nodes-{os.getpid()}", "--nodes", "3", "--racks", "2") as cluster:
        found = clusters.find(cluster.name)
        assert len(left(found)) == 1 + 3 + 1  # the head's wire, loop devices, the group for cores
        braked(cluster, "--disk", "1MB/s")
        assert len(left(found)) == 1 + 3 + 1 + 2  # reads, writes
        braked(cluster, "--off")
        yield cluster
        braked(cluster, "--disk", "1MB/s", "--net", "1MB/s")
    assert not found.root.exists()
    assert left(found) == []
    assert os.uname().nodename == here


def received(cluster: Cluster) -> dict[str, int]:
    """Bytes that each DataNode has written since it started, by its own metrics."""
    found = {}
    for node in clusters.find(cluster.name).nodes():
        (bean,) = asked(f"{node.address}:9864", f"/jmx?qry={ACTIVITY}")["beans"]
        found[node.name] = int(bean["BytesWritten"])
    return found


@pytest.fixture(scope="module")
def job(cluster: Cluster) -> dict[str, int]:
    """A recorded MapReduce job that writes two files with two replicas; bytes by DataNode."""
    before = received(cluster)
    command = [*DFSIO, "-Ddfs.replication=2", "-write", "-nrFiles", "2", "-size", "4MB"]
    cluster.record("job", *command)
    return {name: now - before[name] for name, now in received(cluster).items()}


def test_hadoop_knows_hosts_and_racks(cluster: Cluster) -> None:
    said = cluster.hadoop("hdfs", "dfsadmin", "-printTopology").split("Rack: ")[1:]
    racks = {rack.split()[0]: sorted(name for name in NAMES if name in rack) for rack in said}
    assert racks == {"/rack-1": NAMES[:2], "/rack-2": NAMES[2:]}
    state = clusters.find(cluster.name).state
    listed = asked(state.at("resourcemanager-http"), "/ws/v1/cluster/nodes")["nodes"]["node"]
    assert sorted((node["nodeHostName"], node["rack"]) for node in listed) == [
        (name, f"/{name.partition('.')[2]}") for name in NAMES
    ]


def test_each_event_is_on_its_host(cluster: Cluster, job: dict[str, int]) -> None:
    rows = cluster.run("job").rows("SELECT role, host, traced FROM processes")
    here = os.uname().nodename
    hosts: dict[str, list[str]] = {}
    for role, host, traced in rows:
        assert traced, (role, host)
        hosts.setdefault(role, []).append(host)
    assert {role: sorted(on) for role, on in hosts.items() if role in ROLES} == {
        "NameNode": [here],
        "client": [here],
        "DataNode": NAMES,
        "NodeManager": NAMES,
    }
    tasks = [host for role in ("map", "reduce", "appmaster") for host in hosts[role]]
    assert len(tasks) == 4
    assert set(tasks) <= set(NAMES)
    said = cluster.iostrata("summary", "job", "--full").stdout
    assert said.startswith("traced 13/13 processes, 3/3 DataNodes")
    racks = {name: f"/{name.partition('.')[2]}" for name in NAMES}
    assert find_run(cluster.store, "job").racks == racks


def test_bytes_of_each_host_are_what_its_datanode_says(
    cluster: Cluster, job: dict[str, int]
) -> None:
    """With the background: the NameNode has the job's jar copied once more, in nobody's name."""
    query = (
        "SELECT host, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'datanode' "
        "AND op = 'write' GROUP BY host"
    )
    found = dict.fromkeys(job, 0)
    for run in ("job", "_background"):
        for host, written in cluster.run(run).rows(query):
            found[host] += written
    assert found == job
    # each file twice
    assert sum(job.values()) > 2 * 2 * 4 * 1024 * 1024


@pytest.fixture(scope="module")
def files(cluster: Cluster) -> dict[str, bytes]:
    """By node a file of which it has the only replica: written through it, and read once."""
    found = {}
    for node in clusters.find(cluster.name).nodes():
        found[node.name] = os.urandom(SIZE)
        with datanode(cluster, node, "PUT", "CREATE&replication=1", found[node.name]) as answer:
            assert answer.status == 201
        assert read(cluster, node, found[node.name]) > 0
    return found


@contextmanager
def datanode(
    cluster: Cluster, node: Node, method: str, operation: str, body: bytes = b""
) -> Iterator[HTTPResponse]:
    """An exchange with a DataNode, which is the client of HDFS in it."""
    namenode = clusters.find(cluster.name).state.at("namenode")
    query = f"op={operation}&user.name=hdfs&namenoderpcaddress={namenode}"
    connection = HTTPConnection(f"{node.address}:9864", timeout=120)
    try:
        connection.request(method, f"/webhdfs/v1/braked/{node.name}?{query}", body)
        yield connection.getresponse()
    finally:
        connection.close()


def read(cluster: Cluster, node: Node, expected: bytes) -> float:
    """Bytes per second with which a node hands its file out."""
    began = time.monotonic()
    with datanode(cluster, node, "GET", "OPEN") as answer:
        assert answer.read() == expected
    return SIZE / (time.monotonic() - began)


def braked(cluster: Cluster, *options: str) -> list[Node]:
    """Sets the brakes of the third node; the nodes as they are then."""
    done = cluster.iostrata("lab", "brake", "node-3", "--name", cluster.name, *options)
    assert done.returncode == 0, done.stderr
    return clusters.find(cluster.name).nodes()


def quickest(node: Node, rate: Callable[[Node], float]) -> float:
    """A rate of a node; without a brake the best of five, for what slows it down is not ours."""
    return max(rate(node) for _ in range(1 if node.name == NAMES[2] else 5))


@pytest.mark.parametrize("brake", ["--net", "--disk"])
def test_a_node_with_a_brake_hands_out_its_bytes_no_faster(
    cluster: Cluster, files: dict[str, bytes], brake: str
) -> None:
    """A brake on the disk empties the page cache of it: the file has just been written."""
    found = braked(cluster, brake, "1MB/s")
    rates = {node.name: quickest(node, lambda n: read(cluster, n, files[n.name])) for node in found}
    braked(cluster, "--off")
    print({name: f"{rate / MB:.2f} MB/s" for name, rate in rates.items()})
    # what a full bucket, or the kernel's first slice, lets through at once
    assert rates[NAMES[2]] < 1.2 * MB
    assert min(rates[NAMES[0]], rates[NAMES[1]]) > rates[NAMES[2]]


def test_no_more_waits_for_the_disk_of_a_node_than_it_is_told(cluster: Cluster) -> None:
    """Whoever writes more waits, without a sync; the other nodes write into memory."""
    found = braked(cluster, "--disk", "4MB/s", "--dirty", "2MiB")
    place = namespaces.Place(cluster.name, clusters.find(cluster.name).root, 0, {})

    def write(node: Node) -> float:
        argv = ["dd", "if=/dev/urandom", "of=waits", "bs=64K", "count=192", "status=none"]
        began = time.monotonic()
        entering = namespaces.entering(place, node, argv, place.disk, None)
        subprocess.run(entering, check=True)
        took = time.monotonic() - began
        (namespaces.on_disk(place, node) / "waits").unlink()
        return 12 / took

    rates = {node.name: quickest(node, write) for node in found}
    braked(cluster, "--off")
    print({name: f"{rate:.2f} MiB/s" for name, rate in rates.items()})
    # 12 MiB, of which 10 MiB at least have passed at 4 MB/s
    assert rates[NAMES[2]] < 6.0
    assert min(rates[NAMES[0]], rates[NAMES[1]]) > rates[NAMES[2]]


def test_a_node_with_a_brake_gets_no_more_of_the_processors(cluster: Cluster) -> None:
    found = braked(cluster, "--cpu", "0.02")
    place = namespaces.Place(cluster.name, clusters.find(cluster.name).root, 0, {})
    used = []
    for node in found[1:]:
        argv = ["timeout", "2", "sh", "-c", "while :; do :; done"]
        before = os.times()
        subprocess.run(namespaces.entering(place, node, argv, Path("/"), None), check=False)
        used.append(os.times().children_user - before.children_user)
    braked(cluster, "--off")
    print(f"CPU seconds of 2: {used}")
    assert used[0] > 3 * used[1]


HOSTS = """
name = "hdfs"
filesystem = "{folder}"
[hosts]
names = ["node-1", "node-3"]
run = "{run}"
[dimensions]
access = "sequential"
size = "2MiB"
clients = 1
[measure]
repetitions = [1, 1]
others = 1
"""


def test_nodes_are_hosts_of_a_profile(cluster: Cluster, tmp_path: Path) -> None:
    lab = clusters.find(cluster.name)
    on = ("lab", "exec", "--name", cluster.name)
    named = cluster.iostrata(*on, "node-3", "--", "uname", "-n")
    assert (named.stdout, named.stderr) == ("node-3.rack-2\n", "")
    none = cluster.iostrata(*on, "node-9", "--", "true")
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
    # WHEN Hadoop's client writes and reads on one of them, then on two at the same time
    folder = f"hdfs://{lab.state.at('namenode')}/"
    text = HOSTS.format(
        folder=f"{folder}profiled",
        run=" ".join([sys.executable, "-m", "iostrata", *on, "{host}", "--"]),
    )
    (tmp_path / "hdfs.toml").write_text(text)
    cluster.hadoop("hadoop", "fs", "-mkdir", "/profiled")
    words = ("profile", str(tmp_path / "hdfs.toml"), "--yes", "--json", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "iostrata", *words],
        env={**cluster.environment, **lab.environment()},
        capture_output=True,
        text=True,
    )
    # THEN each of them has moved its bytes
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "hdfs" / "samples.jsonl").read_text().splitlines()
    samples = [json.loads(line) for line in lines]
    assert sorted((one["point"]["nodes"], one["bytes"] >> 20) for one in samples) == [
        (1, 2), (1, 2), (2, 4), (2, 4),
    ]  # fmt: skip
    assert cluster.hadoop("hadoop", "fs", "-ls", "/profiled") == ""


CONTAINERS = """
name = "yarn"
filesystem = "{folder}"
[dimensions]
operation = {operations}
access = "sequential"
size = "2MiB"
clients = 2
containers = {containers}
copies = 2
[measure]
repetitions = [1, 1]
others = 1
"""


def profiled(
    cluster: Cluster, folder: str, out: Path, containers: int, *operations: str
) -> subprocess.Popen[str]:
    """A profile in that many containers of YARN that has begun."""
    lab = clusters.find(cluster.name)
    cluster.hadoop("hadoop", "fs", "-mkdir", folder)
    place = f"hdfs://{lab.state.at('namenode')}{folder}"
    spec = out / "yarn.toml"
    text = CONTAINERS.format(folder=place, containers=containers, operations=[*operations])
    spec.write_text(text)
    words = ("profile", str(spec), "--yes", "--quiet", "--out", str(out))
    return subprocess.Popen(
        [sys.executable, "-m", "iostrata", *words],
        env={**cluster.environment, **lab.environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_containers_of_yarn_are_clients_of_a_profile(cluster: Cluster, tmp_path: Path) -> None:
    profile = profiled(cluster, "/contained", tmp_path, 2, "read", "write")
    assert profile.communicate(timeout=300)[1] == ""
    lines = (tmp_path / "yarn" / "samples.jsonl").read_text().splitlines()
    samples = [json.loads(line) for line in lines]
    assert sorted((one["point"]["operation"], one["bytes"] >> 20) for one in samples) == [
        ("read", 2 * 2 * 2), ("write", 2 * 2 * 2),
    ]  # fmt: skip
    assert cluster.hadoop("hadoop", "fs", "-ls", "/contained") == ""


def test_a_profile_that_is_ended_ends_its_containers(cluster: Cluster, tmp_path: Path) -> None:
    """GIVEN more containers than YARN has room for, so that they wait for each other"""
    profile = profiled(cluster, "/crowded", tmp_path, 64, "write")
    web = clusters.find(cluster.name).state.at("resourcemanager-http")

    def running() -> list[str]:
        apps = asked(web, "/ws/v1/cluster/apps?states=ACCEPTED,RUNNING")["apps"]
        return [app["name"] for app in (apps or {}).get("app", [])]

    wait_until(lambda: any("crowded" in name for name in running()), 120)
    profile.send_signal(signal.SIGINT)
    profile.communicate(timeout=60)
    wait_until(lambda: running() == [], 60)
    assert cluster.hadoop("hadoop", "fs", "-ls", "/crowded") == ""


def test_status_shows_the_brakes(cluster: Cluster) -> None:
    braked(cluster, "--disk", "20MB/s", "--disk-ops", "100", "--dirty", "32MB", "--cpu", "0.5")
    text = cluster.iostrata("lab", "status", cluster.name).stdout
    found = json.loads(cluster.iostrata("lab", "status", cluster.name, "--json").stdout)
    braked(cluster, "--off")
    (line,) = (line for line in text.splitlines() if line.split()[1:2] == [NAMES[2]])
    assert line.endswith("disk 20 MB/s, disk 100 requests/s, dirty 32 MB, cpu 0.5")
    on = {d["role"]: d["node"]["brake"] for d in found[cluster.name] if d["node"]}
    assert on["datanode-3"] == {
        "disk": 20 * MB,
        "disk_ops": 100,
        "dirty": 32 * MB,
        "net": 0,
        "cpu": 0.5,
    }
    assert on["nodemanager-1"] == {"disk": 0, "disk_ops": 0, "dirty": 0, "net": 0, "cpu": 0}
    assert {d["role"] for d in found[cluster.name] if d["node"] is None} == {
        "namenode",
        "resourcemanager",
    }


def test_a_run_without_failure_names_none(cluster: Cluster, job: dict[str, int]) -> None:
    assert cluster.summary("job")["lost_datanodes"] == []
    assert "lost-datanode" not in cluster.iostrata("findings", "job").stdout


def test_a_datanode_that_dies_in_a_pipeline_is_named(cluster: Cluster) -> None:
    """The last of this file: afterwards there are two DataNodes."""
    killed = kill_while_writing(cluster, "dies", lambda pipeline: pipeline[0])
    names = {node.address: node.name for node in clusters.find(cluster.name).nodes()}
    dead = names[killed.address.partition(":")[0]]
    lost = is_named(cluster, "dies", killed, f"on {dead} died")
    assert (lost["host"], lost["fate"]) == (dead, "died")
    # AND what was written is counted once, by the writer and at the survivor
    size = int(cluster.hadoop("hadoop", "fs", "-stat", "%b", killed.file))
    run = cluster.run("dies")
    written = "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND op = 'write' AND "
    assert run.one(f"{written} layer = 'fs'") == size
    assert run.one("SELECT count(*) FROM processes WHERE role = 'DataNode' AND traced") == 3
    assert set(run.losses().values()) == {0}
