"""TestDFSIO at each level and budget: whatever detail is recorded, the totals are Hadoop's."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from tests.e2e import truth
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Verifies
from tests.e2e.labs import Labs

from iostrata.schema.events import KEPT, LEVEL
from iostrata.schema.names import keeps
from iostrata.schema.points import POINTS
from iostrata_lab import clusters

pytestmark = pytest.mark.cluster

# At a hundredth of a percent all that may be is only summed. test_truth.py keeps all.
KINDS = [("record", "1%"), ("record", "0.01%"), ("thread", "off"), ("phase", "1%")]
KINDS += [("task", "off"), ("job", "0.01%")]
assert {level for level, _ in KINDS} == set(LEVEL)
# What the last test compares; each takes a job, so that of all others one is drawn.
ALWAYS = (("record", "1%"), ("job", "0.01%"))
CHECKSUM = 4  # of a segment, behind it


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at()


def detail(run: truth.Run) -> int:
    return int(run.one("SELECT sum(detail)::BIGINT FROM processes"))


def counted(attempts: list[truth.Attempt], job: str, whose: str) -> list[truth.Attempt]:
    """What Hadoop counted, by attempt or of the whole job."""
    if whose == "task":
        return attempts
    read, written = sum(a.read for a in attempts), sum(a.written for a in attempts)
    return [truth.Attempt(job, read, written)]


@pytest.mark.parametrize(
    ("level", "budget"),
    [
        pytest.param(*kind, marks=() if kind in ALWAYS else pytest.mark.drawn("levels", 1))
        for kind in KINDS
    ],
)
def test_totals_are_those_of_hadoop(cluster: Cluster, level: str, budget: str) -> None:
    options = ("--level", level, "--budget", budget)
    name, whose = f"{level}-{budget[:-1]}", "job" if level == "job" else "task"
    job = cluster.dfsio(f"write-{name}", "write", 1, "2MB", options=options)
    run = truth.Run(cluster.store, f"write-{name}", whose)
    attempts = counted(cluster.attempts(job), job, whose)
    blocks = truth.blocks_by_attempt(run, cluster.blocks("/benchmarks/TestDFSIO"))
    problems = chain(
        (f"{loss}: {count}" for loss, count in run.losses().items() if count),
        truth.client_problems(run, attempts),
        truth.datanode_write_problems(run, attempts, 1),
        truth.meta_problems(run, attempts, blocks),
    )
    assert list(problems) == []
    assert cluster.summary(f"write-{name}")["run"]["level"] == level
    print(f"{name}: {detail(run)} calls recorded individually")


@pytest.mark.drawn("levels", 1)
def test_reading_adds_up_within_a_budget(cluster: Cluster) -> None:
    job = cluster.dfsio("read", "read", 1, "2MB", options=("--budget", "0.01%"))
    run, attempts = cluster.run("read"), cluster.attempts(job)
    problems = (*truth.client_problems(run, attempts), *truth.datanode_read_problems(run, attempts))
    assert list(problems) == []
    assert not any(run.losses().values())


def test_what_a_level_leaves_out_is_only_in_sums(cluster: Cluster) -> None:
    """Of the same job, with what the tests above have recorded. How many calls are kept in all says
    little: how often a client asks whether something has ended is a matter of time.
    """
    out = ", ".join(f"'{name}'" for name in KEPT if not keeps("job", name))
    fine, coarse = cluster.run("write-record-1"), cluster.run("write-job-0.01")
    kept = f"SELECT count(*) FROM events WHERE kind = 'call' AND category IN ({out})"
    summed = f"SELECT sum(count)::BIGINT FROM events WHERE kind = 'sum' AND category IN ({out})"
    print(fine.one(kept), coarse.one(kept), fine.one(summed), coarse.one(summed))
    assert fine.one(kept) > 100
    assert coarse.one(kept) == 0
    assert coarse.one(summed) > fine.one(kept)


def test_records_are_counted_where_they_are_asked_for(cluster: Cluster, verifies: Verifies) -> None:
    """The points of records are woven into a program that runs, and out of it again; what its
    segment holds is known all the same.
    """
    path = clusters.find(cluster.name).environment()["CLASSPATH"]
    classes = cluster.folder / "segments"
    source = str(Path(__file__).with_name("Segments.java"))
    subprocess.run(["javac", "-cp", path, "-d", str(classes), source], check=True)
    file = cluster.folder / "segment"
    java = ["java", "-cp", f"{classes}:{path}", "Segments", str(file)]
    command = [sys.executable, "-m", "iostrata", "record", "--run", "levels", "--private", "--"]
    with subprocess.Popen(
        [*command, *java],
        env=cluster.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for level, records in (("", 1000), ("record", 500), ("thread", 70), ("record", 3)):
            if level:
                said = cluster.iostrata("level", "levels", level)
                assert said.stderr.startswith(f"iostrata: run levels: level {level}"), said.stderr
                assert "did not answer" not in said.stderr
            program.stdin.write(f"{records}\n")
            program.stdin.flush()
            assert program.stdout.readline() == f"{records}\n"
        program.stdin.close()
        assert program.wait(120) == 0
    run = cluster.run("levels")
    appended = next(point.id for point in POINTS if point.op == "append" and "Object" in point.desc)
    verifies(run, {appended: 503, 219: 1})
    # Each byte that is checked: records, their lengths, and what says where the segment ends.
    held = run.one("SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND op = 'segment'")
    assert held == file.stat().st_size - CHECKSUM
