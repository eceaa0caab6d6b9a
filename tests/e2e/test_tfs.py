"""tfs:// without an agent: what programs and jobs call of a file system is what is recorded."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, Cluster
from tests.e2e.conftest import Verifies
from tests.e2e.labs import UNTRACED, Labs
from tests.e2e.mapreduce import compiled, examples
from tests.e2e.serving import Node, node
from tests.e2e.truth import Run

from iostrata.artifacts import tfs_jar
from iostrata.schema.points import POINTS
from iostrata_lab import clusters

pytestmark = pytest.mark.cluster

COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"
# What EveryTfsCall.java does: calls of each function.
EVERY = {
    "open": 3,
    "create": 5,  # two of them uploads
    "append": 1,
    "rename": 1,
    "delete": 2,
    "mkdirs": 1,
    "list": 4,
    "getFileStatus": 1,
    "getFileBlockLocations": 1,
    "truncate": 1,
    "concat": 2,
    "getFileChecksum": 1,
    "getAttributes": 3,
    "setAttributes": 4,
    "snapshot": 2,
    "read": 4,
    "readAt": 2,
    "readVectored": 1,
    "write": 7,
    "sync": 2,
    "close": 6,
}
BY_NAME = {point.method: point.id for point in POINTS if point.cls == "tfs"}


class Plain:
    """A lab without agents, and a collector that its processes write to by tfs:// alone."""

    def __init__(self, cluster: Cluster, here: Node) -> None:
        self.cluster = cluster
        self.here = here
        lab = clusters.find(cluster.name)
        self.environment = {**lab.environment(), "IOSTRATA_STORE": str(here.store)}
        self.path = f"{tfs_jar()}:{self.environment['CLASSPATH']}"
        self.environment |= {"CLASSPATH": self.path, "HADOOP_CLASSPATH": str(tfs_jar())}
        self.uri = f"tfs://hdfs@{lab.state.at('namenode')}"

    def record(self, run: str, *command: str) -> str:
        """Records a command whose JVMs have no agent; its output."""
        record = [sys.executable, "-m", "iostrata", "record", "--dir", str(self.here.dir)]
        done = subprocess.run(
            [*record, "--run", run, "--", "env", "-u", "JAVA_TOOL_OPTIONS", *command],
            env=self.environment,
            cwd=self.here.folder,
            capture_output=True,
            text=True,
            timeout=420,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        print(done.stdout, done.stderr)
        return done.stdout + done.stderr

    def options(self, run: str) -> tuple[str, str]:
        return f"-Dfs.tfs.trace.dir={self.here.dir}", f"-Dfs.tfs.trace.run={run}"

    def run(self, name: str) -> Run:
        return Run(self.here.store, name)


@pytest.fixture(scope="module")
def plain(labs: Labs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plain]:
    with node(tmp_path_factory.mktemp("node")) as here:
        yield Plain(labs.at(*UNTRACED), here)


def test_each_call_of_a_program(plain: Plain, verifies: Verifies) -> None:
    classes = plain.here.folder / "classes"
    source = str(Path(__file__).with_name("EveryTfsCall.java"))
    subprocess.run(["javac", "-cp", plain.path, "-d", str(classes), source], check=True)
    program = ("java", "-cp", f"{classes}:{plain.path}", "EveryTfsCall")
    said = plain.record("every", *program, plain.uri, str(plain.here.dir), "every")
    pool = int(re.findall(r"^\d+$", said, re.MULTILINE)[0])
    run = plain.run("every")
    verifies(run, {BY_NAME[name]: count for name, count in EVERY.items()})
    moved = dict(
        run.rows(
            "SELECT op, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND bytes > 0 GROUP BY op"
        )
    )
    read = 1 + 100 + 50 + pool + 200 + 60
    assert moved == {"read": read, "read_vectored": 200, "write": 1_500 + 2 * 1024 + 2 * 300}
    errors = (
        "SELECT op, sum(errors)::BIGINT FROM events WHERE kind = 'sum' AND errors > 0 GROUP BY op"
    )
    assert run.rows(errors) == [("open", 1)]
    named = "SELECT DISTINCT category, target FROM events WHERE kind = 'call' AND op = 'truncate'"
    assert run.rows(named) == [("hdfs", "/every-tfs/renamed")]
    assert (
        run.one(
            "SELECT min(\"offset\") FROM events WHERE kind = 'call' AND op = 'read' AND bytes = 60"
        )
        == 300
    )
    assert set(run.losses().values()) == {0}


def test_a_job_is_what_its_counters_say(plain: Plain) -> None:
    """The tasks take the jar with them: no node knows it, and none has an agent."""
    text = plain.here.folder / "text"
    text.write_text("a b c d e f g\n" * 20_000)
    plain.cluster.hadoop("hadoop", "fs", "-put", str(text), "/tfs-text")
    jar = examples(plain.cluster)
    options = (*plain.options("job"), "-libjars", str(tfs_jar()))
    words = (*options, f"{plain.uri}/tfs-text", f"{plain.uri}/tfs-out")
    found = JOB.search(plain.record("job", "hadoop", "jar", jar, "wordcount", *words))
    assert found
    history = plain.cluster.history(found[1])
    run = plain.run("job")
    for direction, op in (("READ", "read"), ("WRITTEN", "write")):
        counted = {
            attempt.name: attempt.counters[COUNTERS][f"TFS_BYTES_{direction}"]
            for attempt in history.attempts
        }
        traced = run.bytes_by_task(f"op = '{op}' AND layer = 'fs'")
        assert {task: traced.get(task, 0) for task in counted} == counted
        assert sum(counted.values()) > 0
    assert plain.cluster.hadoop("hadoop", "fs", "-cat", "/tfs-out/part-r-00000") == "".join(
        f"{letter}\t20000\n" for letter in "abcdefg"
    )
    assert set(run.losses().values()) == {0}


def test_the_shell_with_tfs_as_default(plain: Plain) -> None:
    """`fs.defaultFS`, trash, ACLs and quotas; an AbstractFileSystem for FileContext."""
    local = plain.here.folder / "put"
    local.write_bytes(b"x" * 1234)
    shell = ("hadoop", "fs", f"-Dfs.defaultFS={plain.uri}", "-Dfs.trash.interval=60")
    script = "; ".join(
        " ".join((*shell, *plain.options("shell"), *words))
        for words in (
            ("-put", str(local), "/tfs-put"),
            ("-setfattr", "-n", "user.a", "-v", "b", "/tfs-put"),
            ("-getfacl", "/tfs-put"),
            ("-count", "-q", "/tfs-put"),
            ("-rm", "/tfs-put"),
        )
    )
    said = plain.record("shell", "bash", "-ec", script)
    assert f"to trash at: {plain.uri}/user" in said
    run = plain.run("shell")
    assert (
        run.one("SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND op = 'write'") == 1234
    )
    assert run.one("SELECT count(*) FROM processes WHERE agent LIKE 'tfs %'") == 5
    assert "5 processes traced by tfs:// alone" in plain.here.iostrata("summary", "shell").stdout


def test_beside_an_agent_it_keeps_silent(plain: Plain) -> None:
    """The agent sees the same calls, and names the file that is written behind tfs://."""
    jar = compiled(plain.cluster, "CopiesByUri")
    totals = {}
    for name, uri in (("bare", plain.uri.replace("tfs://hdfs@", "hdfs://")), ("both", plain.uri)):
        command = ["java", "-cp", f"{jar}:{plain.path}", "CopiesByUri", uri, f"/copied-{name}"]
        words = [sys.executable, "-m", "iostrata", "record", "--dir", str(plain.here.dir)]
        words += ["--run", name, "--", *command]
        subprocess.run(words, env=plain.environment, cwd=plain.here.folder, check=True)
        run = plain.run(name)
        assert run.one("SELECT count(*) FROM processes") == 1
        assert run.one("SELECT count(*) FROM events WHERE point BETWEEN 820 AND 840") == 0
        totals[name] = run.rows(
            "SELECT layer, op, category, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND "
            "layer IN ('fs', 'hdfs') AND op IN ('read', 'write') AND flags & 32 = 0 "
            "GROUP BY ALL ORDER BY ALL"
        )
    assert totals["both"] == totals["bare"]
    assert totals["bare"] == [("fs", "write", "hdfs", 70_000), ("hdfs", "read", "hdfs", 70_000)]


def test_nobody_who_collects(plain: Plain) -> None:
    """Output and exit code are those of the program; nothing is left behind."""
    nowhere = "-Dfs.tfs.trace.dir=/dev/shm/none"
    listed = plain.cluster.hadoop("hadoop", "fs", "-ls", "-C", "/")
    shell = ["hadoop", "fs", f"-Dfs.defaultFS={plain.uri}", nowhere, "-ls", "-C", "/"]
    lab = clusters.find(plain.cluster.name)
    done = lab.run(shell, capture_output=True, text=True, env=plain.environment)
    assert done.stdout == listed
