"""What is missing is named, whichever of the three sources knows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iostrata.analyse.summary import Summary, summary
from iostrata.records import builtins
from iostrata.show.completeness import completeness_lines
from iostrata.show.summary import picture
from iostrata.store.coverage import match
from iostrata.store.facts import ListedDataNode
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_sum

ATTEMPTS = [f"attempt_1_0001_m_{number:06}_0" for number in range(3)]


def node(name: str, pid: int | None, host: str = "node") -> dict[str, Any]:
    return {"name": name, "host": host, "pid": pid}


def read(store: Path) -> Summary:
    with OpenedRun(find_run(store, "r")) as opened:
        return summary(opened)


def test_every_source_names_what_it_misses(tmp_path: Path) -> None:
    # GIVEN three DataNodes and three attempts: of each one traced, one seen in /proc, one only
    # listed by Hadoop; DataNodes tell of an attempt they served, which makes it no traced one
    processes = [
        process("DataNode", 1, host="node"),
        process("DataNode", 2, host="node", traced=False, reason="no agent"),
        process("map", 11, host="node", task=ATTEMPTS[0]),
        process("map", 12, host="node", task=ATTEMPTS[1], traced=False, reason="no agent"),
    ]
    events = [row_of_sum("datanode", "write", role="DataNode", task=ATTEMPTS[2])]
    cluster = {
        "datanodes": [node("a:1", 1), node("a:2", 2), node("b:3", None, "other")],
        "attempts": {"job_1_0001": ATTEMPTS},
        "unasked": ["the history of job_1_0002 for its attempts: no history"],
    }
    make_run(tmp_path, "r", events, processes, cluster=cluster)
    found = read(tmp_path)
    # THEN
    assert completeness_lines(picture(found)) == [
        "traced 2/5 processes, 1/3 DataNodes, 0 dropped",
        "not traced: DataNode pid 2, a:2 (no agent)",
        "not traced: map pid 12, attempt_1_0001_m_000001_0 (no agent)",
        "not traced: DataNode b:3 (the NameNode lists it, no traced process is it)",
        "not traced: attempt_1_0001_m_000002_0 (the job history has it, no process reported it)",
        "did not answer: the history of job_1_0002 for its attempts: no history",
    ]
    said = builtins(found)["processes"]
    assert (said["total"], said["traced"], len(said["list"])) == (5, 2, 4)
    assert said["missing_attempts"] == ATTEMPTS[2:]


def test_everything_traced_is_one_line(tmp_path: Path) -> None:
    # GIVEN a DataNode, and attempts that ran inside their ApplicationMaster
    events = [row_of_sum("fs", "read", role="appmaster", task=task) for task in ATTEMPTS]
    processes = [process("DataNode", 1, host="node"), process("appmaster", 2, host="node")]
    cluster = {"datanodes": [node("a:1", 1)], "attempts": {"job_1_0001": ATTEMPTS}, "unasked": []}
    make_run(tmp_path, "r", events, processes, cluster=cluster)
    # THEN
    assert completeness_lines(picture(read(tmp_path))) == [
        "traced 2/2 processes, 1/1 DataNodes, 0 dropped"
    ]


def test_who_did_not_answer_is_not_counted(tmp_path: Path) -> None:
    unasked = ["the NameNode for its DataNodes: the NameNode does not answer"]
    cluster: dict[str, Any] = {"datanodes": None, "attempts": {}, "unasked": unasked}
    events = [row_of_sum("hdfs", "read")]
    make_run(tmp_path, "r", events, [process("client", 1)], cluster=cluster)
    assert completeness_lines(picture(read(tmp_path))) == [
        "traced 1/1 processes, DataNodes not asked, 0 dropped",
        "did not answer: the NameNode for its DataNodes: the NameNode does not answer",
    ]


def test_many_missing_attempts_end_in_their_number(tmp_path: Path) -> None:
    many = [f"attempt_1_0001_m_{number:06}_0" for number in range(1234)]
    cluster: dict[str, Any] = {"datanodes": [], "attempts": {"job_1_0001": many}, "unasked": []}
    make_run(tmp_path, "r", [], [process("client", 1)], cluster=cluster)
    said = completeness_lines(picture(read(tmp_path)))
    assert (said[0], len(said)) == ("traced 1/1235 processes, 0/0 DataNodes, 0 dropped", 52)
    assert said[-1] == "and 1 184 more attempts (--json lists all)"


def test_a_datanode_of_unknown_process_takes_no_other_ones_place(tmp_path: Path) -> None:
    # GIVEN a host with one traced DataNode, of which the NameNode lists two
    make_run(tmp_path, "r", [], [process("DataNode", 1, host="node")])
    traced = read(tmp_path).processes.processes
    matched = match([ListedDataNode("a:1", "node"), ListedDataNode("a:2", "node", 1)], traced)
    assert [(each.name, each.traced) for each in matched] == [("a:1", False), ("a:2", True)]
    # THEN without process ids one of them is traced, whichever, and none of another host
    listed = [ListedDataNode(name, host) for name, host in DATANODES]
    assert [each.traced for each in match(listed, traced)] == [True, False, False]


DATANODES = [("a:1", "node"), ("a:2", "node"), ("b:1", "other")]
