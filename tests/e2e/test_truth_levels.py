"""TestDFSIO at each level and budget: whatever is kept one by one, the totals are Hadoop's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

import pytest
from tests.e2e import truth
from tests.e2e.cluster import Cluster, lab_up

from iostrata.schema.events import LEVEL

pytestmark = pytest.mark.cluster

# At a hundredth of a percent all that may be is only summed. test_truth.py keeps all.
KINDS = [("record", "1%"), ("record", "0.01%"), ("thread", "off"), ("phase", "1%")]
KINDS += [("task", "off"), ("job", "0.01%")]
assert {level for level, _ in KINDS} == set(LEVEL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("levels")
    with lab_up(folder, f"levels-{os.getpid()}", "--datanodes", "1") as cluster:
        yield cluster


def detail(run: truth.Run) -> int:
    return int(run.one("SELECT sum(detail)::BIGINT FROM processes"))


def counted(attempts: list[truth.Attempt], job: str, whose: str) -> list[truth.Attempt]:
    """What Hadoop counted, by attempt or of the whole job."""
    if whose == "task":
        return attempts
    read, written = sum(a.read for a in attempts), sum(a.written for a in attempts)
    return [truth.Attempt(job, read, written)]


@pytest.mark.parametrize(("level", "budget"), KINDS)
def test_totals_are_those_of_hadoop(cluster: Cluster, level: str, budget: str) -> None:
    options = ("--level", level, "--budget", budget)
    name = f"{level}-{budget[:-1]}"
    written = cluster.dfsio(f"write-{name}", "write", 1, "24MB", options=options)
    read = cluster.dfsio(f"read-{name}", "read", 1, "24MB", options=options)
    whose = "job" if level == "job" else "task"
    runs = [truth.Run(cluster.store, f"{op}-{name}", whose) for op in ("write", "read")]
    attempts = [counted(cluster.attempts(job), job, whose) for job in (written, read)]
    blocks = truth.blocks_by_attempt(runs[0], cluster.blocks("/benchmarks/TestDFSIO"))
    problems = chain(
        (f"{loss}: {count}" for run in runs for loss, count in run.losses().items() if count),
        truth.client_problems(runs[0], attempts[0]),
        truth.datanode_write_problems(runs[0], attempts[0], 1),
        truth.meta_problems(runs[0], blocks),
        truth.client_problems(runs[1], attempts[1]),
        truth.datanode_read_problems(runs[1], attempts[1]),
    )
    assert list(problems) == []
    assert blocks  # a file of the map at least, and what the reduce puts out
    assert cluster.summary(f"write-{name}")["run"]["level"] == level
    print(f"{name}: {detail(runs[0])} and {detail(runs[1])} calls kept one by one")


def test_less_is_kept_at_each(cluster: Cluster) -> None:
    """Of the same job, with what the tests above have recorded."""
    kept = {
        f"{level}-{budget[:-1]}": detail(cluster.run(f"write-{level}-{budget[:-1]}"))
        for level, budget in KINDS
    }
    print(kept)
    assert kept["thread-of"] > kept["task-of"] > kept["job-0.01"]
    assert kept["record-1"] > kept["record-0.01"]
