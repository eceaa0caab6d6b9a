"""Workloads on a real cluster: what was asked is what is there, and nothing else is left."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import Labs
from tests.e2e.serving import wait_until

pytestmark = pytest.mark.cluster
ROWS = 3000
WORDS = ("--set", "size=64KB", "--set", "maps=1", "--set", "reduces=1")
STANDARD = {
    "wordcount": WORDS,
    "grep": WORDS[:4],
    "identity": WORDS,
    "testdfsio": ("--set", "size=1MB", "--set", "files=1", "--set", "mode=read"),
    "nnbench": ("--set", "maps=1", "--set", "names=5", "--set", "operation=rename"),
}


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Iterator[Cluster]:
    found = labs.at()
    yield found
    assert "iostrata-" not in found.hadoop("hadoop", "fs", "-ls", "/tmp")


def ran(cluster: Cluster, *words: str) -> dict[str, Any]:
    done = cluster.iostrata("workload", "run", *words, "--lab", cluster.name, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(cluster: Cluster, *words: str) -> str:
    """The one line that says why nothing was started."""
    done = cluster.iostrata("workload", "run", *words, "--lab", cluster.name)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def test_teragen_writes_what_was_asked_for(cluster: Cluster) -> None:
    place = "/kept/rows"
    words = ("--set", f"rows={ROWS}", "--set", "maps=2", "--folder", place)
    said = ran(cluster, "teragen", *words, "--keep")
    assert said["result"]["asked_bytes"] == ROWS * 100
    assert [job["maps"] for job in said["result"]["jobs"]] == [2]
    assert sum(block.size for block in cluster.blocks(place)) == ROWS * 100
    # a place that is taken is left as it is
    taken = refused(cluster, "teragen", *words)
    assert taken == f"iostrata: {place} is there already · name another --folder"
    assert sum(block.size for block in cluster.blocks(place)) == ROWS * 100


@pytest.mark.drawn("whole clusters", 2)
def test_a_recorded_workload_is_a_run_without_its_input(cluster: Cluster) -> None:
    words = ("--set", f"rows={ROWS}", "--set", "maps=1", "--set", "reduces=1")
    said = ran(cluster, "terasort", *words, "--record", "--run", "sorted", "--tag", "try=1")
    assert said["run"] == "sorted"
    jobs = [job["id"] for job in said["result"]["jobs"]]
    run = cluster.run("sorted")
    facts = json.loads((run.path / "run.json").read_text())
    assert facts["title"] == f"terasort rows={ROWS} maps=1 reduces=1"
    assert facts["tags"] == {"try": "1"}
    traced = {job for (job,) in run.rows("SELECT DISTINCT job FROM processes WHERE task <> ''")}
    assert traced == set(jobs)  # TeraSort and TeraValidate; TeraGen came before
    history = cluster.history(jobs[0])
    records = sum(
        attempt.counters["org.apache.hadoop.mapreduce.TaskCounter"].get("MAP_INPUT_RECORDS", 0)
        for attempt in history.attempts
    )
    assert records == said["result"]["jobs"][0]["map_input_records"] == ROWS


@pytest.mark.drawn("standard jobs", 1)
@pytest.mark.parametrize("name", STANDARD)
def test_standard_jobs_do_what_they_are_for(cluster: Cluster, name: str) -> None:
    words = (*STANDARD[name], "--folder", f"/standard/{name}", "--keep")
    result = ran(cluster, name, *words)["result"]
    assert all(job["maps"] == 1 for job in result["jobs"])
    DONE[name](cluster, f"/standard/{name}", result)


def _text(cluster: Cluster, place: str) -> tuple[list[str], list[list[str]]]:
    """The words of the input, and the rows of the output, of which one field is a number."""
    files = (f"{place}/in/part-m-*", f"{place}/out/part-r-*")
    lines = [
        line.split("\t") for line in cluster.hadoop("hadoop", "fs", "-text", *files).splitlines()
    ]
    out = [fields for fields in lines if any(field.isdigit() for field in fields)]
    # programs get the value of a record; its key is random words, too
    words = [word for _, value in (f for f in lines if f not in out) for word in value.split()]
    assert words
    return words, out


def _counted(cluster: Cluster, place: str, result: dict[str, Any]) -> None:
    words, out = _text(cluster, place)
    assert {word: int(count) for word, count in out} == Counter(words)
    assert [job["reduce_output_records"] for job in result["jobs"]] == [len(out)]


def _searched(cluster: Cluster, place: str, result: dict[str, Any]) -> None:
    words, out = _text(cluster, place)
    found = Counter(match for word in words for match in re.findall("[a-z]*ness", word))
    assert {match: int(count) for count, match in out} == found != Counter()
    counts = [int(count) for count, _ in out]
    assert counts == sorted(counts, reverse=True)
    assert len(result["jobs"]) == 2  # it searches, then it sorts


def _handed_on(cluster: Cluster, place: str, result: dict[str, Any]) -> None:
    (job,) = result["jobs"]
    assert job["reduce_output_records"] == job["map_input_records"] > 0


def _read(cluster: Cluster, place: str, result: dict[str, Any]) -> None:
    (job,) = result["jobs"]
    assert result["asked_bytes"] == 1 << 20
    assert [b.size for b in cluster.blocks(f"{place}/io_data")] == [1 << 20]
    assert 1 << 20 < job["hdfs_read"] < (1 << 20) + 4096  # and what says which file it is
    assert result["mb_per_s_of_a_map"] > 0


def _renamed(cluster: Cluster, place: str, result: dict[str, Any]) -> None:
    assert result["transactions_per_s"] > 0
    names = [
        line.split()[-1]
        for line in cluster.hadoop("hadoop", "fs", "-ls", f"{place}/data").splitlines()[1:]
    ]
    assert len(names) == 5
    assert all("_r_" in name for name in names)


DONE = {
    "wordcount": _counted,
    "grep": _searched,
    "identity": _handed_on,
    "testdfsio": _read,
    "nnbench": _renamed,
}


def test_what_cannot_work_is_one_line(cluster: Cluster) -> None:
    assert refused(cluster, "teragen", "--set", "rows=1e9").startswith(
        "iostrata: rows=1e9 is not allowed"
    )
    assert " in HDFS with 1 replicas, " in refused(cluster, "teragen", "--set", "rows=99999999999")
    assert refused(cluster, "teragen", "--set", "row=3") == (
        "iostrata: no parameter row · rows, maps"
    )
    assert refused(cluster, "terasortt").startswith(
        "iostrata: no workload is called 'terasortt' · one of teragen, "
    )


def test_an_interrupt_ends_its_jobs_and_removes_its_files(cluster: Cluster) -> None:
    command = [sys.executable, "-m", "iostrata", "workload", "run", "teragen"]
    command += ["--set", "rows=50000000", "--lab", cluster.name]  # 5 GB
    running = subprocess.Popen(
        command, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: cluster.going_on() != [] or running.poll() is not None, timeout=120)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, ""), err
    wait_until(lambda: cluster.going_on() == [])
