from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.progress import silent
from iostrata_lab.workload.cluster import ClusterClient, Facts
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.spark import submit
from iostrata_lab.workload.spark.counters import counters
from iostrata_lab.workload.spark.workloads import PAGERANK

SMALL = Facts(1 << 40, 1, 1, 1, 2 << 30, 4, 1 << 30)


class Known(ClusterClient):
    """A cluster whose facts are given."""

    facts = SMALL


def context(*given: str) -> Context:
    asked = values(PAGERANK.parameters, given)
    cluster = Known({"HADOOP_CONF_DIR": "/conf"})
    return Context(asked, 1, cluster, "/there", Path("/scratch"), silent, "tag")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "spark_home", lambda: Path("/spark"))


def refused(asked: Context) -> str:
    with pytest.raises(UserError) as caught:
        submit.check(asked)
    return f"{caught.value.message} · {caught.value.remedy}"


def test_without_pyspark_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert refused(context()) == "pyspark is not installed · pip install 'iostrata-lab[spark]'"


@pytest.mark.usefixtures("installed")
def test_what_cannot_work_is_said_before_anything_starts() -> None:
    submit.check(context())
    submit.check(context("master=local[*]"))
    submit.check(context("master=yarn"))
    assert refused(context("master=mesos")) == (
        "master=mesos is not allowed · say local[N] or yarn"
    )
    nowhere = context()
    nowhere = replace(nowhere, cluster=Known({}))
    assert refused(nowhere).startswith("Spark finds no cluster · ")
    # 896 MiB each, and as much for the ApplicationMaster
    assert refused(context("master=yarn", "executors=2")).startswith(
        "YARN has 2.0 GiB for containers, the application needs 2.6 GiB"
    )


def test_counters_are_sums_over_attempts(tmp_path: Path) -> None:
    def ended(stage: int, metrics: dict[str, object] | None, failed: bool = False) -> object:
        info = {"Failed": failed, "Killed": False}
        return {
            "Event": "SparkListenerTaskEnd",
            "Stage ID": stage,
            "Stage Attempt ID": 0,
            "Task Info": info,
            **({} if metrics is None else {"Task Metrics": metrics}),
        }

    metrics: dict[str, object] = {
        "Disk Bytes Spilled": 7,
        "Input Metrics": {"Bytes Read": 100},
        "Output Metrics": {"Bytes Written": 10},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": 50},
        "Shuffle Read Metrics": {"Local Bytes Read": 3, "Remote Bytes Read": 4},
    }
    events = [
        {"Event": "SparkListenerApplicationStart", "App ID": "application_1_2"},
        ended(10, metrics),
        ended(2, metrics),
        ended(2, metrics),
        ended(2, None, failed=True),
    ]
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    found = counters(log)
    assert found["application"] == "application_1_2"
    assert (found["tasks"], found["failed"], found["input_bytes"]) == (4, 1, 300)
    assert [(stage["stage"], stage["tasks"]) for stage in found["stages"]] == [
        ("2.0", 3),
        ("10.0", 1),
    ]
    assert found["stages"][0]["spilled"] == 14
    assert found["stages"][1]["shuffle_read_remote"] == 4


@pytest.mark.parametrize("program", ["bayes", "logistic", "nweight", "pagerank"])
def test_a_driver_finds_its_program_where_nothing_of_ours_is_installed(program: str) -> None:
    path = submit.import_path({"PYTHONPATH": "/mine"})
    assert path.endswith(":/mine")
    # a Python that sees no installed package
    command = [sys.executable, "-S", "-c", f"import iostrata_lab.workload.spark.programs.{program}"]
    subprocess.run(command, env={"PYTHONPATH": path}, check=True)
