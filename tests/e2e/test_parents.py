"""Native children: who has started each, which task it works for, and for which call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cluster import JOB, ONE_ATTEMPT, Cluster, lab_up
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import JDKS
from tests.e2e.truth import Run

STREAMING = "org.apache.hadoop:hadoop-streaming:3.4.2"
# Processes with the program of the one that has started each.
FAMILY = """
    SELECT child.main, parent.main FROM processes AS child
    JOIN processes AS parent ON parent.proc = child.parent ORDER BY child.start
"""
# What calls of a process that nothing encloses were done for.
CAUSES = """
    SELECT DISTINCT above.layer, above.op, above.task, below.task, below.trace = above.proc
    FROM events AS below
    JOIN processes ON processes.proc = below.proc
    LEFT JOIN events AS above ON above.proc = below.parent_proc AND above.span = below.parent
        AND above.kind = 'call'
    WHERE below.layer = 'posix' AND below.kind = 'call' AND processes.main LIKE ?
"""
MAPPER = """
import os, subprocess, sys, time
lines = list(sys.stdin)
with open(sys.argv[1] + "." + os.environ["mapreduce_task_attempt_id"], "w") as out:
    out.writelines(lines)
time.sleep(1)  # it is there when the collector looks
subprocess.run(["wc", "-l", out.name], check=True)
"""


def test_children_of_a_java_program(program: Path, tmp_path: Path, iostrata: Iostrata) -> None:
    """What they and their own children do is done for the JVM; they are not its only process."""
    (tmp_path / "file").write_bytes(bytes(100_000))
    script = f"sleep 0.5; cat {tmp_path}/file; cat {tmp_path}/file"
    java = (str(JDKS["17"] / "bin/java"), "-cp", str(program), "Starts", "1", "sh", "-c", script)
    done = iostrata("record", "--native", "--budget", "off", "--run", "r", "--", *java)
    assert done.stdout.splitlines()[0] == "0 200000", done.stderr
    run = Run(tmp_path / "store", "r")
    family = run.rows(FAMILY)
    assert [child for child in family if child[0] == "cat"] == [("cat", "dash")] * 2
    assert ("dash", "Starts") in family
    (cause,) = run.rows(CAUSES, "cat")
    assert cause == ("task", "process", None, None, True)
    read = "SELECT sum(bytes)::BIGINT FROM events WHERE layer = 'posix' AND target = ?"
    assert run.one(read, str(tmp_path / "file")) == 200_000


def test_what_was_only_counted_of_a_child(
    program: Path, tmp_path: Path, iostrata: Iostrata
) -> None:
    """It hangs from the call that the child works for, as what was recorded individually does."""
    (tmp_path / "file").write_bytes(bytes(100_000))
    java = (
        "java",
        "-cp",
        str(program),
        "Starts",
        "1",
        "sh",
        "-c",
        f"sleep 0.5; cat {tmp_path}/file",
    )
    for detail in (("--level", "phase"), ("--budget", "off")):
        run = detail[1]
        done = iostrata("record", "--native", *detail, "--run", run, "--", *java)
        assert done.stdout.splitlines()[0] == "0 100000", done.stderr
        roots = json.loads(iostrata("calltree", run, "--json").stdout)
        (below,) = (root["below"] for root in roots if root["op"] == "process")
        reads = [each for each in below if (each["layer"], each["op"]) == ("posix", "read")]
        assert sum(each["bytes"] for each in reads) >= 100_000, run
        # AND nothing of it stands by itself
        assert "posix" not in {root["layer"] for root in roots}, run


def test_children_of_a_program_that_has_no_calls_open(tmp_path: Path, iostrata: Iostrata) -> None:
    """Each is the begin of what it does."""
    (tmp_path / "file").write_text("words")
    command = ("sh", "-c", f"cat {tmp_path}/file; exit 3")
    done = iostrata("record", "--native", "--budget", "off", "--run", "r", "--", *command)
    assert done.returncode == 3
    run = Run(tmp_path / "store", "r")
    assert run.rows(FAMILY)[-1] == ("cat", "dash")
    assert run.rows(CAUSES, "cat") == [(None, None, None, None, None)]
    own = "SELECT bool_and(trace = proc) FROM events WHERE layer = 'posix' AND kind = 'call'"
    assert run.one(own)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    name = f"parents-{os.getpid()}"
    with lab_up(tmp_path_factory.mktemp("lab"), name, "--native") as cluster:
        yield cluster


@pytest.mark.cluster
def test_mappers_of_hadoop_streaming_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """Python in a container works for its map, and so does what that starts."""
    copy = ("mvn", "-B", "-q", "dependency:copy", f"-Dartifact={STREAMING}")
    subprocess.run([*copy, f"-DoutputDirectory={tmp_path}"], check=True, cwd=tmp_path)
    (jar,) = tmp_path.glob("*.jar")
    (tmp_path / "map.py").write_text(MAPPER)
    for name in "ab":
        (tmp_path / name).write_text(f"{name}\n" * 1000)
    cluster.hadoop("hadoop", "fs", "-mkdir", "-p", "/streamed")
    cluster.hadoop("hadoop", "fs", "-put", *(str(tmp_path / name) for name in "ab"), "/streamed")
    mapper = f"{sys.executable} {tmp_path}/map.py {tmp_path}/said"
    words = ("-input", "/streamed", "-output", "/out-streamed", "-mapper", mapper)
    settings = ("-Dmapreduce.job.reduces=0", *ONE_ATTEMPT)
    said = cluster.record(
        "r", "hadoop", "jar", str(jar), *settings, *words, options=("--budget", "off")
    )
    job = JOB.search(said)
    assert job
    maps = sorted(attempt.name for attempt in cluster.attempts(job[1]))
    run = cluster.run("r")
    python = Path(os.path.realpath(sys.executable)).name
    for name in (python, "wc"):
        causes = run.rows(CAUSES, name)
        assert sorted(causes) == [("task", "run", one, one, True) for one in maps], name
    family = run.rows(FAMILY)
    assert Counter(pair for pair in family if pair[0] in (python, "wc")) == {
        (python, "org.apache.hadoop.mapred.YarnChild"): 2,
        ("wc", python): 2,
    }
    # bytes of each map, by what its Python has written
    written = run.rows(
        "SELECT task, sum(bytes)::BIGINT FROM events WHERE layer = 'posix' AND op = 'write' "
        "AND target LIKE ? GROUP BY task ORDER BY task",
        f"{tmp_path}/said.%",
    )
    assert written == [(one, (tmp_path / f"said.{one}").stat().st_size) for one in maps]
    # and an attempt is still one process
    attempts = run.rows("SELECT task, role FROM processes WHERE task IS NOT NULL ORDER BY task")
    assert attempts == [(one, "map") for one in maps]
