"""Programs with one thing wrong, on a real HDFS: the cause ranks first (bench/rules has all)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import TWO, Labs

from iostrata.store.configuration import SETTINGS
from iostrata.store.runs import find_run
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


@pytest.mark.drawn("whole clusters", 2)
def test_advice_names_what_the_job_had(cluster: Cluster) -> None:
    """GIVEN a job that reads 24 small files with a task each, and has a secret."""
    words = cluster.folder / "words"
    words.write_text("a few words\n" * 80)
    cluster.hadoop("hadoop", "fs", "-mkdir", "-p", "/words")
    for first in range(0, 24, 12):  # a JVM for 12 of them
        copies = [words.with_name(f"words-{first + n}") for n in range(12)]
        for copy in copies:
            copy.hardlink_to(words)
        cluster.hadoop("hadoop", "fs", "-put", *map(str, copies), "/words")
    classes = cluster.environment["CLASSPATH"].partition(":")[0]
    jar = cluster.folder / "tasks.jar"
    subprocess.run(["jar", "cf", str(jar), "-C", classes, "."], check=True)
    settings = ["-D", "mapreduce.map.sort.spill.percent=0.7", "-D", "fs.s3a.secret.key=hidden"]
    command = ["hadoop", "jar", str(jar), "Tasks", *settings, "none", "1", "1", "/words", "/counts"]
    cluster.record("small-files", *command)

    # THEN the run has its settings from its history, and nothing else of it
    (known,) = find_run(cluster.store, "small-files").cluster.configuration.values()
    assert known["mapreduce.map.sort.spill.percent"] == "0.7"
    assert known["mapreduce.map.java.opts"] == "-Xmx600m"
    assert known.keys() <= SETTINGS
    # AND the advice names the format that the job had
    done = cluster.iostrata("findings", "small-files", "--json")
    found = {each["rule"]: each for each in json.loads(done.stdout)["findings"]}
    packed = found["many-small-files"]["change"][0]
    assert packed["setting"] == "mapreduce.job.inputformat.class"
    assert packed["before"] == "org.apache.hadoop.mapreduce.lib.input.TextInputFormat"
    assert packed["after"] == "org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat"


def test_a_healthy_program_has_nothing_severe(cluster: Cluster) -> None:
    found = findings(cluster, "healthy-write", 64)
    assert [each["rule"] for each in found if each["severity"] == "severe"] == []
