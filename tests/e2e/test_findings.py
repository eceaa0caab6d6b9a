"""Programs with one thing wrong, on a real HDFS: the cause ranks first (bench/rules has all)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import TWO, Labs

from iostrata_lab import clusters

SOURCES = Path(__file__).parents[2] / "bench" / "rules"
# Times that the program does it: so many that the start of a JVM is the least of it.
CAUSES = {"many-small-outputs": 250, "metadata-storm": 8000, "frequent-flush": 3000}


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    found = labs.at(*TWO)
    classpath = clusters.find(found.name).environment()["CLASSPATH"]
    classes = found.folder / "classes"
    sources = map(str, SOURCES.glob("*.java"))
    subprocess.run(["javac", "-cp", classpath, "-d", str(classes), *sources], check=True)
    found.environment["CLASSPATH"] = f"{classes}:{classpath}"
    found.hadoop("hadoop", "fs", "-mkdir", "-p", "/causes")
    found.hadoop("hadoop", "fs", "-touchz", "/causes/input")
    return found


def findings(cluster: Cluster, cause: str, times: int) -> list[dict[str, Any]]:
    classpath = cluster.environment["CLASSPATH"]
    command = ["java", "-cp", classpath, "Client", cause, str(times), "1", str(cluster.folder)]
    cluster.record(cause, *command)
    done = cluster.iostrata("findings", cause, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_ranks_first(cluster: Cluster, cause: str) -> None:
    found = findings(cluster, cause, CAUSES[cause])
    # other tests run beside this one, and do use the CPU
    first = next(each for each in found if each["rule"] != "cpu-taken")
    assert first["rule"] == cause
    assert first["severity"] in ("severe", "warning")
    # AND its query repeats what it was judged by
    repeated = cluster.iostrata("query", "--run", cause, "--format", "json", first["query"])
    assert repeated.returncode == 0
    assert json.loads(repeated.stdout)


def test_a_healthy_program_has_nothing_severe(cluster: Cluster) -> None:
    found = findings(cluster, "healthy-write", 64)
    assert [each["rule"] for each in found if each["severity"] == "severe"] == []
