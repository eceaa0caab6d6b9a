from __future__ import annotations

from itertools import pairwise
from operator import attrgetter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.overlap import Overlap, Stretch, busy, overlap
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call


def call(start: int, end: int, layer: str = "java", **more: Any) -> dict[str, Any]:
    given = {"host": "node", "proc": 1, "start": start, "dur": end - start}
    return row_of_call(layer, "read", "/a", **{**given, **more})


def test_time_in_several_calls_at_once_counts_once(traced: Traced) -> None:
    engine = traced(
        [
            call(10, 30, "hdfs"),
            call(12, 20),  # within it
            call(25, 40),  # of another thread
            call(40, 45),  # one after the other
            call(60, 70),
            call(0, 99, "task"),  # what the I/O is for
            call(0, 99, proc=2),  # of no task
        ],
        processes=[
            process("map", 7, host="node", proc=1, job="j", task="m_0", start=0, end=100),
            process("map", 8, host="node", proc=3, job="j", task="m_1", start=5, end=55),
            process("DataNode", 9, host="node", proc=2, start=0),
        ],
    )
    names = ("task", "dur", "in_io", "longest_io", "share")
    assert list(map(attrgetter(*names), engine.records(overlap(), Overlap))) == [
        ("m_0", 100, 45, 35, 0.45),
        ("m_1", 50, 0, 0, 0.0),
    ]


def test_attempts_that_share_a_process_have_each_their_own(traced: Traced) -> None:
    first = {"task": "app_stage_0.0_task_0.0", "phase": "stage 0.0", "job": "app"}
    second = {"task": "app_stage_0.0_task_1.0", "phase": "stage 0.0", "job": "app"}
    executor: dict[str, Any] = {"role": "executor", "proc": 1}

    def run(start: int, end: int, whose: dict[str, str]) -> dict[str, Any]:
        given = {"host": "node", "start": start, "dur": end - start}
        return row_of_call("task", "run", "", **{**given, **executor, **whose})

    engine = traced(
        [
            run(0, 100, first),
            run(10, 60, second),
            call(10, 30, **executor, **first),
            call(20, 40, **executor, **second),
            call(25, 35, **executor, **first),
            call(50, 60, **executor, **second),
            call(0, 90, **executor),  # of no task
            call(0, 80, role="DataNode", proc=2, **first),  # serves it
        ],
        processes=[
            process("executor", 7, host="node", proc=1, job="app", start=0, end=100),
            process("DataNode", 9, host="node", proc=2, start=0),
        ],
    )
    names = ("task", "dur", "in_io", "longest_io")
    assert list(map(attrgetter(*names), engine.records(overlap(), Overlap))) == [
        (first["task"], 100, 25, 25),
        (second["task"], 50, 30, 20),
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), min_size=1, max_size=30))
def test_stretches_are_the_union(tmp_path_factory: Any, calls: list[tuple[int, int]]) -> None:
    store = tmp_path_factory.mktemp("store")
    make_run(store, "r", [call(start, start + length) for start, length in calls])
    with OpenedRun(find_run(store, "r")) as opened:
        found = DuckDb(opened).records(busy().order_by("start"), Stretch)
    # what is covered, point by point
    inside = {at for start, length in calls for at in range(start, start + length)}
    covered = [at for row in found for at in range(row.start, row.end)]
    assert sorted(covered) == sorted(inside)
    assert all(a.end < b.start for a, b in pairwise(found))
    assert sum(row.calls for row in found) == len(calls)
