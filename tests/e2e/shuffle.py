"""Jobs that shuffle, and the rules for what was sent; through TLS where that is asked for."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.e2e.cluster import JOB, Cluster
from tests.e2e.labs import Labs
from tests.e2e.trees import Call, Tree
from tests.e2e.truth import Run

from iostrata_lab import clusters
from iostrata_lab.clusters import processes
from iostrata_lab.clusters.daemons import MARK
from iostrata_lab.clusters.hadoop import conf

MAPS, REDUCES = 2, 2
PARTS = MAPS * REDUCES
WORDS = 150_000  # a map, no two alike, so that a combiner leaves them all: parts of 1.6 MB
SSL_CHUNK = 64 * 1024  # mapreduce.shuffle.ssl.file.buffer.size, in mapred-default.xml
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
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
        self.lab = clusters.find_hadoop(cluster.name)
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
def lab_with_words(labs: Labs, *options: str) -> Iterator[tuple[Cluster, Node]]:
    """A lab with the input of the jobs; its NodeManager is not what it was, so the lab ends."""
    cluster = labs.at(*options)
    words = cluster.folder / "words"
    words.mkdir()
    for part in range(MAPS):
        lines = (f"word-{part}-{number:08}\n" for number in range(WORDS))
        (words / f"{part}").write_text("".join(lines), "utf-8")
    cluster.hadoop("hadoop", "fs", "-put", str(words), "/unlike")
    node = Node(cluster)
    try:
        yield cluster, node
    finally:
        node.kill()
        labs.close()


def with_tls(cluster: Cluster) -> None:
    """Writes the configuration of a shuffle through TLS; the NodeManager reads it as it starts."""
    found = clusters.find_hadoop(cluster.name)
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
    command = (*WORDCOUNT, *options, *OPTIONS, "/unlike", f"/{name}")
    found = JOB.search(cluster.record(name, *command))
    assert found
    history = cluster.history(found[1])
    assert {attempt.state for attempt in history.attempts} == {"SUCCEEDED"}
    assert len(history.attempts) == MAPS + REDUCES
    assert history.counters[TASK]["REDUCE_OUTPUT_RECORDS"] == MAPS * WORDS
    reduces = [attempt for attempt in history.attempts if "_r_" in attempt.name]
    received = {a.name: a.counters[TASK]["REDUCE_SHUFFLE_BYTES"] for a in reduces}
    return Job(found[1], cluster.run(name), received)


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
