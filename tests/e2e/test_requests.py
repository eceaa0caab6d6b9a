"""Requests to HDFS in an open loop, on a real lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.labs import Labs

pytestmark = pytest.mark.cluster
OPERATIONS = ["read", "stat", "list", "create", "append", "rename", "delete"]
SMALL = ("files=20", "depth=1", "fanout=4", "file_size=4KB", "read_size=1KB", "write_size=1KB")


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    return labs.at()


def _run(
    cluster: Cluster, *given: str, options: tuple[str, ...] = (), small: tuple[str, ...] = SMALL
) -> dict[str, Any]:
    sets = [word for one in (*small, *given) for word in ("--set", one)]
    done = cluster.iostrata(
        "workload", "run", "requests", "--lab", cluster.name, "--json", "-q", *options, *sets
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _assert_accounted_for(result: dict[str, Any]) -> None:
    ended = ("completed", "failed", "not_started", "dropped")
    assert sum(result[name] for name in ended) == result["issued"], result


def test_each_request_is_accounted_for_and_nothing_stays(cluster: Cluster) -> None:
    # GIVEN 200 requests a second, of all operations, as Poisson has them arrive
    # WHEN they are sent for 5 s
    result = _run(cluster, "mix=equal", "base=200", "duration=5", "warmup=1")["result"]
    # THEN all that were planned were issued, each once, and none failed
    assert result["issued"] == result["planned_sessions"]
    assert abs(result["issued"] - 1000) < 5 * 1000**0.5
    _assert_accounted_for(result)
    assert result["errors"] == []
    by_operation = result["operations"]
    assert [one["operation"] for one in by_operation] == OPERATIONS
    assert sum(one["completed"] for one in by_operation) == result["completed"]
    for one in by_operation:
        each = {"read": 1024, "create": 1024, "append": 1024}.get(one["operation"], 0)
        assert one["bytes"] == each * one["completed"], one
    # AND HDFS is as before
    assert "iostrata-requests" not in cluster.hadoop("hdfs", "dfs", "-ls", "/tmp")


def test_what_was_asked_for_is_found_in_the_trace_and_can_be_asked_for_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    # GIVEN requests of all operations, traced
    asked = ("mix=equal", "base=100", "duration=5", "warmup=0")
    done = _run(cluster, *asked, options=("--record", "--run", "asked"))["result"]
    # WHEN a model is fitted to the run
    out = tmp_path / "asked.txt"
    told = cluster.iostrata("workload", "model", "asked", "--out", str(out), "--json")
    assert told.returncode == 0, told.stderr
    model = json.loads(told.stdout)
    # THEN each request is in it once, with its bytes
    completed = {one["operation"]: one["completed"] for one in done["operations"]}
    assert model["operations"] == completed
    assert model["kept"] == sum(completed.values())
    assert (model["read_size"], model["write_size"]) == (1024, 1024)
    # AND the generator takes it
    again = _run(cluster, "duration=1", "warmup=0", options=("--settings", str(out)), small=())
    assert again["values"]["mix"] == ",".join(f"{name}:{many}" for name, many in completed.items())
    _assert_accounted_for(again["result"])


@pytest.mark.drawn("arrivals", 1)
def test_recorded_gaps_are_kept_exactly(cluster: Cluster, tmp_path: Path) -> None:
    gaps = tmp_path / "gaps.txt"
    gaps.write_text("0.25\n0\n0.5\n")
    recorded = ("arrivals=recorded", f"gaps={gaps}", "mix=stat", "duration=2", "warmup=0")
    result = _run(cluster, *recorded)["result"]
    # at .25 .25 .75, 1 1 1.5, 1.75 1.75; the next is at 2.25
    assert (result["asked_per_s"], result["issued"]) == (4, 8)
    _assert_accounted_for(result)


@pytest.mark.drawn("arrivals", 1)
def test_saturation_is_between_what_held_and_what_did_not(cluster: Cluster) -> None:
    # GIVEN trials of 1 s, in which 99 % are to be done 0.3 s after they were due
    asked = ("find=saturation", "mix=stat", "trial=1", "warmup=1", "base=50", "most=400")
    result = _run(cluster, *asked, "slowest=0.3")["result"]
    trials = result["trials"]
    held = [one["asked_per_s"] for one in trials if one["holds"]]
    assert result["saturation_per_s"] == max(held, default=0)
    for one in trials:
        _assert_accounted_for(one)
    slower = [one for one in trials if not one["holds"]]
    assert max(held, default=0) == 400 or slower
    for one in slower:
        assert one["latency_ms_p99"] > 300 or one["achieved_per_s"] < 0.95 * one["issued"]


def test_a_full_cluster_and_a_taken_place_are_one_line_before_anything_starts(
    cluster: Cluster,
) -> None:
    full = ("--set", "file_size=1GB", "--set", "files=100000")
    done = cluster.iostrata("workload", "run", "requests", "--lab", cluster.name, *full)
    assert done.returncode == 2
    assert "requests needs 107" in done.stderr
    assert "are free" in done.stderr
    taken = ("--folder", "/tmp")
    done = cluster.iostrata("workload", "run", "requests", "--lab", cluster.name, *taken)
    assert done.returncode == 2
    assert "/tmp is there already" in done.stderr
