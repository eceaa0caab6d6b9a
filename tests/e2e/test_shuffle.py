"""The shuffle, from a reduce's request to the file that the NodeManager sends; localisation."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, Cluster, lab_up
from tests.e2e.conftest import Between, Count, Verifies
from tests.e2e.test_complete import jdk
from tests.e2e.trees import Call, Tree
from tests.e2e.truth import Run

from iostrata_lab import clusters
from iostrata_lab.clusters import processes
from iostrata_lab.clusters.daemons import MARK
from iostrata_lab.clusters.hadoop import conf

pytestmark = pytest.mark.cluster

MAPS, REDUCES = 2, 2
PARTS = MAPS * REDUCES
WORDS = 150_000  # a map, no two alike, so that a combiner leaves them all: parts of 1.6 MB
SSL_CHUNK = 64 * 1024  # mapreduce.shuffle.ssl.file.buffer.size, in mapred-default.xml
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
NODEMANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
WORDCOUNT = ("hadoop", "org.apache.hadoop.examples.WordCount")
OPTIONS = (
    f"-Dmapreduce.job.reduces={REDUCES}",
    "-Dmapreduce.map.speculative=false",
    "-Dmapreduce.reduce.speculative=false",
    "-Dmapreduce.reduce.maxattempts=1",
    # All maps have ended when a reduce asks, and one thread asks for all of them.
    "-Dmapreduce.job.reduce.slowstart.completedmaps=1.0",
    "-Dmapreduce.reduce.shuffle.parallelcopies=1",
)
ON_DISK = "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.00001"
# What an ApplicationMaster needs; the tasks find it on the node then.
RESOURCES = ("job.jar", "job.xml", "job.split", "job.splitmetainfo")

# From the file up. A node begins the next part from within the call that has sent the one before.
WAY = (
    "NodeManager task.serve_part",
    "NodeManager task.serve_map",
    "NodeManager task.serve",
    "NodeManager task.request",
    "reduce task.connect",
    "reduce task.fetch",
)


@dataclass(frozen=True)
class Job:
    """A job that a run recorded, and what its reduces received by Hadoop's own count."""

    id: str
    run: Run
    received: dict[str, int]

    @property
    def size(self) -> int:
        return sum(self.received.values())

    def moved(self, op: str, role: str, by: str = "task") -> dict[str | None, int]:
        """Bytes of an operation, by attempt or by job."""
        query = (
            f"SELECT {by}, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' "
            "AND layer = 'task' AND op = ? AND role = ? GROUP BY 1"
        )
        return dict(self.run.rows(query, op, role))

    def requests(self) -> int:
        """How often the reduces asked; each may ask once for all maps, or for each one."""
        query = "SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND point = 232"
        found = int(self.run.one(query))
        assert REDUCES <= found <= PARTS
        return found


class Node:
    """The NodeManager of a lab, which can be started again with another configuration."""

    def __init__(self, cluster: Cluster) -> None:
        self.lab = clusters.find(cluster.name)
        self.process: subprocess.Popen[str] | None = None
        (self.running,) = (d.identity for d in self.lab.daemons() if d.role == "nodemanager")

    def restart(self, *command: str) -> None:
        """The ResourceManager gives it no work until it has registered."""
        self.kill()
        quiet = subprocess.DEVNULL
        mark = {MARK: str(self.lab.root)}
        self.process = self.lab.popen(command, env=mark, stdout=quiet, stderr=quiet)
        running = processes.identify(self.process.pid)
        assert running
        self.running = running

    def kill(self) -> None:
        processes.send(self.running, signal.SIGKILL)
        if self.process:
            self.process.wait()
        assert processes.wait_gone([self.running], 30) == []


@contextmanager
def lab_with_words(folder: Path, *options: str) -> Iterator[tuple[Cluster, Node]]:
    words = folder / "words"
    words.mkdir()
    for part in range(MAPS):
        lines = (f"word-{part}-{number:08}\n" for number in range(WORDS))
        (words / f"{part}").write_text("".join(lines), "utf-8")
    with lab_up(folder, f"{folder.name}-{os.getpid()}", *options) as cluster:
        cluster.hadoop("hadoop", "fs", "-put", str(words), "/words")
        node = Node(cluster)
        try:
            yield cluster, node
        finally:
            node.kill()


def with_tls(cluster: Cluster) -> None:
    """Writes the configuration of a shuffle through TLS; the NodeManager reads it as it starts."""
    found = clusters.find(cluster.name)
    keys, secret = str(cluster.folder / "keys"), "changeit"
    keytool = [str(Path(found.state.java_home) / "bin/keytool"), "-genkeypair", "-keyalg", "RSA"]
    keytool += ["-dname", "CN=127.0.0.1", "-keystore", keys, "-storetype", "JKS"]
    subprocess.run([*keytool, "-storepass", secret, "-keypass", secret], check=True)
    server = {"location": keys, "password": secret, "keypassword": secret}
    client = {"location": keys, "password": secret}
    texts = {
        "ssl-server.xml": {f"ssl.server.keystore.{name}": text for name, text in server.items()},
        "ssl-client.xml": {f"ssl.client.truststore.{name}": text for name, text in client.items()},
    }
    for name, properties in texts.items():
        (found.conf_dir / name).write_text(conf.xml(properties), "utf-8")
    site = found.conf_dir / "mapred-site.xml"
    # The reduce asks the node by the name that this machine has for 127.0.0.1.
    more = {"mapreduce.shuffle.ssl.enabled": "true", "hadoop.ssl.hostname.verifier": "ALLOW_ALL"}
    for name, text in more.items():
        prop = f"<property><name>{name}</name><value>{text}</value></property></configuration>"
        site.write_text(site.read_text("utf-8").replace("</configuration>", prop), "utf-8")


def recorded(cluster: Cluster, name: str, *options: str) -> Job:
    command = (*WORDCOUNT, *options, *OPTIONS, "/words", f"/{name}")
    found = JOB.search(cluster.record(name, *command))
    assert found
    history = cluster.history(found[1])
    assert {attempt.state for attempt in history.attempts} == {"SUCCEEDED"}
    assert len(history.attempts) == MAPS + REDUCES
    assert history.counters[TASK]["REDUCE_OUTPUT_RECORDS"] == MAPS * WORDS
    reduces = [attempt for attempt in history.attempts if "_r_" in attempt.name]
    received = {a.name: a.counters[TASK]["REDUCE_SHUFFLE_BYTES"] for a in reduces}
    return Job(found[1], cluster.run(name), received)


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Node]]:
    with lab_with_words(tmp_path_factory.mktemp("shuffle")) as found:
        yield found


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Node]]:
    """Hadoop 3.3, which serves the shuffle with Netty 3, and here through TLS."""
    with lab_with_words(tmp_path_factory.mktemp("netty3"), "--version", "3.3.6") as found:
        with_tls(found[0])
        found[1].restart("yarn", "nodemanager")
        yield found


@pytest.fixture(scope="module")
def sent(newest: tuple[Cluster, Node]) -> Job:
    """A job with an archive that its containers need, too."""
    cluster, _ = newest
    (cluster.folder / "file").write_text("in an archive", "utf-8")
    archive = str(cluster.folder / "extra.tar")
    subprocess.run(["tar", "-cf", archive, "-C", str(cluster.folder), "file"], check=True)
    return recorded(cluster, "sent", "-archives", archive)


@pytest.fixture(scope="module")
def untraced(newest: tuple[Cluster, Node], sent: Job) -> Job:
    """Through TLS, to reduces that have no agent."""
    cluster, node = newest
    with_tls(cluster)
    node.restart("yarn", "nodemanager")
    java = Path(clusters.find(cluster.name).state.java_home) / "bin/java"
    plain = jdk(cluster.folder / "plain", java, "java")
    return recorded(cluster, "untraced", f"-Dmapreduce.reduce.env=JAVA_HOME={plain}")


@pytest.fixture(scope="module")
def alone(newest: tuple[Cluster, Node], untraced: Job) -> Job:
    """From a NodeManager that has no agent."""
    cluster, node = newest
    node.restart("yarn", NODEMANAGER)  # by its class, so without the options of the daemon
    return recorded(cluster, "alone")


@pytest.fixture(scope="module")
def from_oldest(oldest: tuple[Cluster, Node]) -> Job:
    return recorded(oldest[0], "oldest", ON_DISK)


def of_parts(tree: Tree, op: str) -> list[Call]:
    """What the NodeManager did with the files of map outputs to send them."""
    parts = tree.named("NodeManager", "task", "serve_part")
    below = ((part, call) for part in parts for call in tree.children(part))
    return [call for part, call in below if (call.op, call.target) == (op, part.target)]


def way(tree: Tree, call: Call) -> tuple[str, ...]:
    """What the call was made for, step by step; steps of the same name are one."""
    steps = (f"{above.role} {above.name}" for above in tree.way_up(call)[1:])
    return tuple(name for name, _ in groupby(steps))


def check_trees(job: Job, op: str) -> None:
    """Every byte of every part: from its file to the reduce that asked for it."""
    tree = Tree(job.run)
    calls = of_parts(tree, op)
    assert sum(call.bytes for call in calls) == job.size
    assert {way(tree, call) for call in calls} == {WAY}
    reduces = {call.proc: 0 for call in tree.named("reduce", "task", "process")}
    assert len(reduces) == REDUCES
    for call in calls:
        assert call.trace == tree.top(call)
        reduces[call.trace] += call.bytes
    assert sorted(reduces.values()) == sorted(job.received.values())
    for name in ("request", "serve", "serve_map", "serve_part"):
        assert {tree.origin(call) for call in tree.named("NodeManager", "task", name)} == {"reduce"}


def check_bytes(job: Job) -> None:
    """What was served is what was received: lengths of parts, which no header is in."""
    assert job.moved("serve_part", "NodeManager") == job.received
    assert job.moved("receive", "reduce") == job.received
    assert job.moved("accept", "reduce") == job.received


def chunks(job: Job) -> int:
    """How many reads send all parts through TLS."""
    sizes = job.run.rows("SELECT bytes FROM events WHERE kind = 'call' AND point = 236")
    assert len(sizes) == PARTS
    return sum(-(-size // SSL_CHUNK) for (size,) in sizes)


def test_every_part_has_its_way(sent: Job) -> None:
    check_trees(sent, "transfer")
    check_bytes(sent)


def test_calls_of_the_shuffle(sent: Job, verifies: Verifies) -> None:
    requests = sent.requests()
    expected: dict[int, Count] = {
        230: REDUCES,
        231: requests,
        232: requests,
        233: PARTS,
        234: PARTS,
        236: PARTS,
        # Before it takes a host; once more where it takes the end of the shuffle for the next.
        237: Between(requests, requests + REDUCES),
        238: REDUCES,
        250: PARTS,
        251: PARTS,
        252: Between(PARTS),  # a full socket takes a part in several goes
        254: requests,
    }
    verifies(sent.run, expected)


def test_what_containers_need_is_localised(sent: Job, verifies: Verifies) -> None:
    files = len(RESOURCES) + 1  # and the archive
    verifies(sent.run, {270: 1, 271: files, 272: files, 273: files})
    tree = Tree(sent.run)
    (localizer,) = tree.named("NodeManager", "task", "localize")
    downloads = [call for call in tree.children(localizer) if call.op == "download"]
    assert {call.tid for call in downloads}.isdisjoint({localizer.tid})  # its threads do it
    fetched = [call for download in downloads for call in tree.children(download)]
    names = {Path(call.target or "").name for call in fetched if call.op == "download_file"}
    assert names == {*RESOURCES, "extra.tar"}


def test_untraced_reduces_are_their_jobs(sent: Job, untraced: Job, verifies: Verifies) -> None:
    """No header says which attempt asked; the URL says which job."""
    assert untraced.moved("accept", "reduce") == {}
    assert untraced.moved("serve_part", "NodeManager") == {None: untraced.size}
    assert untraced.moved("serve_part", "NodeManager", "job") == {untraced.id: untraced.size}
    tree = Tree(untraced.run)
    assert sum(call.bytes for call in of_parts(tree, "read")) == untraced.size
    assert {way(tree, call) for call in of_parts(tree, "read")} == {WAY[:-2]}
    # The same words make the same parts as before, without TLS.
    assert untraced.size == sent.size
    verifies(untraced.run, {250: PARTS, 251: PARTS, 253: chunks(sent)})


def test_a_node_without_an_agent_serves(alone: Job) -> None:
    """It knows nothing of our header; what it sent is what the reduces accepted."""
    assert alone.moved("accept", "reduce") == alone.received
    assert alone.moved("serve_part", "NodeManager") == {}


def test_the_oldest_version(from_oldest: Job, verifies: Verifies) -> None:
    check_trees(from_oldest, "read")
    check_bytes(from_oldest)
    requests = from_oldest.requests()
    expected: dict[int, Count] = {
        235: PARTS,
        255: requests,
        # For each part at once, and each part but the last of a request when it has gone.
        256: 2 * PARTS - requests,
        257: PARTS,
        258: chunks(from_oldest),
    }
    verifies(from_oldest.run, expected)
