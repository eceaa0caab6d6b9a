"""What a recorder says of a run without reading it is what an analysis would say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.cli import recording
from iostrata.record.protocol import RunProgress
from iostrata.record.session import Recorded
from iostrata.store.coverage import ClusterAnswer, ReportedCoverage
from iostrata.store.tests.made import make_run, process, row_of_sum

ATTEMPTS = [f"attempt_1_0001_m_{number:06}_0" for number in range(3)]
TOLD: dict[str, Any] = {
    "processes": [],
    "tasks": [],
    "layers": [],
    "of_jobs": False,
    "faulted_points": [],
    "unfinished": 0,
}
NAMES = {"folded": "collapsed", "refused": "rejected"}


def reported(processes: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The coverage that a collector tells of rows of the table `processes`."""
    unknown = ("exit", "jvm", "points_faulted")
    rows = [
        {NAMES.get(name, name): value for name, value in row.items() if name not in unknown}
        for row in processes
    ]
    return {**TOLD, "processes": rows, **more}


def both(
    store: Path,
    events: list[dict[str, Any]],
    processes: list[dict[str, Any]],
    cluster: dict[str, Any],
    **more: Any,
) -> tuple[str, str]:
    """The first line: of what the collector reported, and of an analysis."""
    make_run(store, "r", events, processes, cluster=cluster)
    coverage = ReportedCoverage.of(reported(processes, **more))
    assert coverage is not None
    progress, answer = RunProgress(events=len(events)), ClusterAnswer.of(cluster)
    recorded = Recorded("r", store, 0, "ok", progress, 1.0, True, "", coverage, answer)
    analysed = Recorded("r", store, 0, "ok", progress, 1.0, True)
    return recording._first_line(recorded), recording._first_line(analysed)


def test_a_cluster_that_is_traced_in_part(tmp_path: Path) -> None:
    # GIVEN two DataNodes and three attempts, of which one ran inside its ApplicationMaster
    processes = [
        process("DataNode", 1, host="node", folded=2),
        process("DataNode", 2, host="node", traced=False, reason="no agent"),
        process("map", 12, host="node", task=ATTEMPTS[1], traced=False, reason="no agent"),
        process("appmaster", 3, host="node", dropped=1234, points_faulted="A#a"),
    ]
    events = [
        row_of_sum("fs", "read", role="appmaster", task=ATTEMPTS[0]),
        row_of_sum("datanode", "write", role="DataNode", task=ATTEMPTS[2]),
    ]
    nodes = [{"name": f"a:{pid}", "host": "node", "pid": pid, "rack": "/r"} for pid in (1, 2)]
    cluster = {"datanodes": nodes, "attempts": {"job_1_0001": ATTEMPTS}, "unasked": []}
    layers = ["datanode", "fs"]
    said, analysed = both(
        tmp_path, events, processes, cluster,
        tasks=ATTEMPTS[:1], layers=layers, of_jobs=True, faulted_points=["A#a"],
    )  # fmt: skip
    assert said == analysed
    assert said.startswith("traced 2/5 processes, 1/2 DataNodes, 1 234 dropped (in totals, not rec")


def test_jobs_without_a_cluster_that_answers(tmp_path: Path) -> None:
    events = [row_of_sum("hdfs", "read", job="job_1_0001")]
    said, analysed = both(
        tmp_path, events, [process("client", 1)], {}, layers=["hdfs"], of_jobs=True
    )
    assert said == analysed
    assert said == (
        "traced 1/1 processes, DataNodes not asked, 0 dropped; job history not asked: attempts on "
        "hosts without a collector are not known"
    )


@pytest.mark.parametrize(
    ("processes", "why"),
    [
        ([], "no Java process was seen, nor another one by --native"),
        (
            [process("client", 1, traced=False, reason="no agent")],
            "none of its processes was traced (iostrata doctor says why)",
        ),
        (
            [process("client", 1)],
            "its processes called none of the points (iostrata points lists them)",
        ),
    ],
)
def test_an_empty_run_says_why(tmp_path: Path, processes: list[dict[str, Any]], why: str) -> None:
    said, analysed = both(tmp_path, [], processes, {})
    assert said == analysed
    assert said.endswith(f"no events: {why}")


@pytest.mark.parametrize(
    "answer", [None, {}, [], {**TOLD, "processes": 3}, {**TOLD, "processes": [{"news": 1}]}]
)
def test_an_answer_of_another_kind_tells_nothing(answer: Any) -> None:
    assert ReportedCoverage.of(answer) is None
