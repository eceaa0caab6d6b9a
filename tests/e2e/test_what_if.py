"""A recorded job is replayed as it was, and with changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import TWO, Labs

pytestmark = pytest.mark.cluster

SIZE = ("--set", "rows=20000", "--set", "maps=2", "--set", "reduces=2")


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    """With a run `sorted` of TeraSort and of TeraValidate, which follows it."""
    found = labs.at(*TWO)
    words = ("workload", "run", "terasort", *SIZE, "--lab", found.name, "--record")
    done = found.iostrata(*words, "--run", "sorted")
    assert done.returncode == 0, done.stderr
    return found


def asked(cluster: Cluster, *words: str) -> dict[str, Any]:
    done = cluster.iostrata("what-if", "sorted", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_job_is_replayed_as_it_was_and_with_a_change(cluster: Cluster) -> None:
    found = asked(cluster, "--containers", "1")
    assert found["replayed"] == pytest.approx(found["recorded"], rel=0.1)
    assert found["predicted"] > found["recorded"]  # maps were side by side
    assert found["low"] <= found["predicted"] <= found["high"]
    (attempts,) = cluster.run("sorted").rows(
        "SELECT count(DISTINCT task) FROM processes WHERE role IN ('map', 'reduce')"
    )
    assert sum(one["attempts"] for one in found["roles"]) == attempts[0]
    late = asked(cluster, "--set", "mapreduce.job.reduce.slowstart.completedmaps=1.0")
    assert late["predicted"] >= 0.9 * late["recorded"]

    smaller = asked(cluster, "--codec", "lz4=2")
    assert smaller["assumes"][0].startswith("lz4 makes it 2 times smaller, at ")

    said = cluster.iostrata("what-if", "sorted", "--containers", "1").stdout.splitlines()
    assert said[0].startswith("as recorded: ")
    assert said[1].startswith("with 1 container at once: ")
    assert said[-1].startswith("assumes: ")
    twice = cluster.iostrata("what-if", "sorted", "sorted", "--containers", "1").stdout
    assert ", the mean of 2 runs; their replays take " in twice.splitlines()[0]
    assert twice.splitlines()[1:] == said[1:]


def test_the_files_of_a_sort_are_permanent(cluster: Cluster) -> None:
    """GIVEN a TeraSort that leaves its result, and a TeraValidate that leaves its logs"""
    done = cluster.iostrata("place", "classify", "sorted", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)[0]
    assert (found["pattern"], found["files"], found["runs"]) == ("terasort #1", "permanent", 1)
    [sample] = found["samples"]
    assert sample["left"] >= 20_000 * 100  # rows of 100 bytes
    assert sample["curve"][0] == 0
    lines = cluster.iostrata("place", "classify", "sorted", "--why").stdout.splitlines()
    assert lines[1].split()[:3] == ["terasort", "#1", "1"]
    assert lines[-1].endswith(" left")


def test_what_cannot_be_replayed_is_one_line(cluster: Cluster) -> None:
    wrong = {
        ("--faster-disk", "fast"): "--faster-disk 'fast' is no number",
        ("--set", "mapreduce.map.output.compress=true"): "cannot be replayed",
        ("--network", "1Gbit"): "the run was on one host",
        ("--codec", "lzx"): "--codec 'lzx' is none that is known",
        ("--storage", "a/model.json"): "--storage and --instead-of need each other",
        (): "no change is named",
    }
    for words, line in wrong.items():
        done = cluster.iostrata("what-if", "sorted", *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert line in done.stderr
    cluster.iostrata(
        "record", "--lab", cluster.name, "--run", "ls", "--", "hadoop", "fs", "-ls", "/"
    )
    done = cluster.iostrata("what-if", "ls", "--cores", "4")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iostrata: run ls has no attempts of MapReduce"), done.stderr
