from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.attempts import Attempt, Straggler, attempts, stragglers
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import process, row_of_call, row_of_sum

S = 10**9


def attempt(task: str, role: str, start: int, end: int | None) -> dict[str, Any]:
    until = None if end is None else end * S
    ran = {"host": "node", "start": start * S, "end": until}
    return process(role, 7, job="job_1", task=task, **ran)


def work(task: str, op: str, **more: Any) -> dict[str, Any]:
    return row_of_sum("task", op, task=task, job="job_1", **more)


def test_each_attempt_with_what_it_spilled_and_fetched(traced: Traced) -> None:
    engine = traced(
        [
            work("m_0", "spill", count=3),
            work("m_0", "merge"),
            work("r_0", "copy", count=2, bytes=500),
            work("r_0", "fetch", count=2, bytes=500),  # the same bytes, a step above
            row_of_sum("hdfs", "read", task="m_0", bytes=70),
            row_of_sum("datanode", "send_packet", task="m_0", bytes=80),  # for it, elsewhere
            row_of_sum("fs", "write", task="r_0", bytes=30, category="hdfs"),
            row_of_sum("fs", "write", task="r_0", bytes=90, category="file"),
        ],
        processes=[
            process("NameNode", 1),
            attempt("r_0", "reduce", 5, 9),
            attempt("r_1", "reduce", 3, 9),  # which waited a second for the maps
            attempt("m_0", "map", 1, 4),
            attempt("m_1", "map", 2, None),
        ],
    )
    work_done = ("spills", "merges", "fetches", "fetched", "read", "written")
    names = ("task", "role", "dur", "worked", *work_done)
    assert list(map(attrgetter(*names), engine.records(attempts(), Attempt))) == [
        ("m_0", "map", 3 * S, 3 * S, 3, 1, 0, 0, 70, 0),
        ("m_1", "map", None, None, 0, 0, 0, 0, 0, 0),
        ("r_1", "reduce", 6 * S, 5 * S, 0, 0, 0, 0, 0, 0),
        ("r_0", "reduce", 4 * S, 4 * S, 0, 0, 2, 500, 0, 30),
    ]


def test_stragglers_are_seen_beside_the_median(traced: Traced) -> None:
    ends = {"m_0": 3, "m_1": 4, "m_2": 5, "m_3": 30}
    engine = traced(
        [
            work("r_0", "copy", bytes=10),
            work("r_1", "copy", bytes=90),
            work("r_2", "copy", bytes=9),
        ],
        processes=[
            *(attempt(task, "map", 1, end) for task, end in ends.items()),
            *(attempt(f"r_{n}", "reduce", 5 + n, 34) for n in range(3)),
            attempt("m_4", "map", 1, None),  # it runs on: nobody knows how long
        ],
    )
    names = ("role", "attempts", "median", "longest", "slowest", "skew")
    maps, reduces = engine.records(stragglers(), Straggler)
    assert list(map(attrgetter(*names), (maps, reduces))) == [
        ("map", 4, 3 * S, 29 * S, "m_3", 29 / 3),
        ("reduce", 3, 4 * S, 4 * S, "r_2", 1.0),
    ]
    bytes_ = ("median_fetched", "most_fetched", "skew_fetched", "most_read", "skew_read")
    assert list(map(attrgetter(*bytes_), (maps, reduces))) == [
        (0, 0, None, 0, None),
        (10, 90, 9.0, 0, None),
    ]


def task_of_spark(stage: str, index: int, dur: int, **more: Any) -> dict[str, Any]:
    task = f"app_1_stage_{stage}_task_{index}.0"
    whose = {"job": "app_1", "task": task, "phase": f"stage {stage}", "role": "executor"}
    ran = {"kind": "call", "start": S, "dur": dur * S, "host": "node", **whose}
    return row_of_call("task", "run", "", **{**ran, **more})


def test_an_attempt_of_spark_is_a_call_in_an_executor(traced: Traced) -> None:
    whose = {"task": "app_1_stage_3.0_task_0.0", "phase": "stage 3.0"}
    engine = traced(
        [
            task_of_spark("3.0", 0, 4),
            task_of_spark("3.0", 1, 9, kind="unfinished"),
            row_of_call("task", "run", "", job="job_1", task="m_0"),  # of MapReduce, a phase
            row_of_sum("task", "fetch", bytes=300, **whose),
            row_of_sum("task", "receive", bytes=300, **whose),  # the same bytes, a step below
            row_of_sum("task", "local_block", bytes=50, **whose),
        ],
        processes=[process("executor", 7, job="app_1", start=0, end=20 * S)],
    )
    names = ("task", "role", "stage", "dur", "worked", "exit", "fetched")
    assert list(map(attrgetter(*names), engine.records(attempts(), Attempt))) == [
        ("app_1_stage_3.0_task_0.0", "executor", "stage 3.0", 4 * S, 4 * S, "ended", 350),
        ("app_1_stage_3.0_task_1.0", "executor", "stage 3.0", 9 * S, 9 * S, "killed", 0),
    ]


def test_a_stage_of_longer_tasks_is_no_straggler(traced: Traced) -> None:
    calls = [
        task_of_spark(stage, n, dur) for stage, dur in (("0.0", 1), ("1.0", 30)) for n in (1, 2, 3)
    ]
    found = traced(calls).records(stragglers(), Straggler)
    shown = [(row.stage, row.attempts, row.median, row.longest) for row in found]
    assert shown == [("stage 0.0", 3, S, S), ("stage 1.0", 3, 30 * S, 30 * S)]
