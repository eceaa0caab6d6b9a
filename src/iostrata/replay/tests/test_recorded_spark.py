from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.replay.hardware import containers, cores
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.settings import setting, split_size
from iostrata.replay.tests.made import JOB, MB, at, opened
from iostrata.replay.whatif import what_if
from iostrata.store.tests.made import (
    SECOND,
    process,
    row_of_call,
    row_of_sum,
    sample,
    thread,
    usage,
)


def ran(stage: str, task: str, tid: int, start: float, end: float, proc: int = 1) -> Any:
    """A task of Spark in a thread of an executor."""
    times = {"start": at(start), "dur": round((end - start) * SECOND)}
    more = {"task": task, "phase": f"stage {stage}", "proc": proc, "tid": tid, "role": "executor"}
    span = {"span": round(start * 10) * 100 + tid, "job": JOB, "host": "node"}
    return row_of_call("task", "run", "", **times, **more, **span)


EVENTS = [
    # two waves of two slots
    ran("0.0", "a0", 11, 1, 3),
    ran("0.0", "a1", 12, 1, 3),
    ran("0.0", "a2", 11, 3, 5),
    # stages 1 and 2 ran at the same time
    ran("1.0", "b0", 11, 6, 8),
    ran("2.0", "c0", 12, 7, 9),
]
SPARK: dict[str, Any] = {
    "events": EVENTS,
    "processes": [process("executor", 1, proc=1, job=JOB, host="node")],
    # half a core, while nothing runs, too; workers of Python take another one
    "usages": [usage(1, second, cpu=SECOND // 2, disk_written=MB) for second in range(1, 9)],
    "system": [
        sample(second, cpu_user=SECOND * 3 // 2 if 1 <= second < 9 else 0, cpu_idle=SECOND // 2)
        for second in range(10)
    ],
    "devices": [],
    "threads": [
        thread(1, 11, "worker", cpu=2 * SECOND, queued=SECOND),
        thread(1, 12, "worker", cpu=SECOND, queued=0),
    ],
}


def test_stages_follow_each_other_or_run_beside_each_other(tmp_path: Path) -> None:
    with opened(tmp_path, **SPARK) as run:
        found = recorded_jobs(run)
    assert [(job.name, job.lead, job.back) for job in found.jobs] == [
        (f"{JOB} stage 0.0", 1, 1), (f"{JOB} stage 1.0", 1, 1), (f"{JOB} stage 2.0", 2, 2),
    ]  # fmt: skip
    tasks = [(one.task, one.role, one.start, one.end, one.lag) for one in found.attempts]
    assert tasks == [
        ("a0", "task", 1, 3, 0), ("a1", "task", 1, 3, 0), ("a2", "task", 3, 5, 0),
        ("b0", "task", 6, 8, 0), ("c0", "task", 7, 9, 0),
    ]  # fmt: skip
    assert (found.cluster.slots, found.cluster.executors) == ({"node": 2}, 1)
    assert found.cluster.containers == 2
    assert (found.wall, found.tail) == (10, 1)


def test_a_task_that_leaves_a_slot_for_long_waits_for_one_near_its_input(tmp_path: Path) -> None:
    late = [*EVENTS[:3], ran("1.0", "b0", 11, 6, 8), ran("1.0", "b1", 12, 7.5, 9)]
    with opened(tmp_path, **{**SPARK, "events": late}) as run:
        found = {one.task: one for one in recorded_jobs(run).attempts}
    assert (found["b1"].lag, found["b1"].apart) == (0, 1.5)
    assert (found["b0"].lag, found["b0"].apart) == (0, 0)


def test_a_task_is_cut_where_a_disk_begins_to_hold_it(tmp_path: Path) -> None:
    held = [{**row, "io_pressure": SECOND * 9 // 10} if 2 <= second < 8 else row
            for second, row in enumerate(SPARK["system"])]  # fmt: skip
    server = process("DataNode", 2, proc=2, host="node", disk_read=12 * MB)
    sent = row_of_sum("datanode", "send_packet", task="a0", host="node", bytes=20 * MB, span=8)
    tables = {
        "system": held,
        "processes": [*SPARK["processes"], server],
        "usages": [*SPARK["usages"], usage(2, 1, disk_read=4 * MB), usage(2, 2, disk_read=8 * MB)],
        "events": [*EVENTS, sent],
    }
    with opened(tmp_path, **{**SPARK, **tables}) as run:
        found = {one.task: one.parts for one in recorded_jobs(run).attempts}
    assert [(part.start, part.length) for part in found["a0"]] == [(1, 1), (2, 1)]
    assert [part.read for part in found["a0"]] == [{"node": 4 * MB}, {"node": 8 * MB}]
    # no piece is shorter than half a second
    assert [(part.start, part.length) for part in found["a2"]] == [(3, 2)]
    assert [(part.start, part.length) for part in found["b0"]] == [(6, 2)]
    assert [(part.start, part.length) for part in found["c0"]] == [(7, 1), (8, 1)]


def test_an_executor_works_for_the_tasks_that_run_in_it(tmp_path: Path) -> None:
    with opened(tmp_path, **SPARK) as run:
        found = {one.task: one for one in recorded_jobs(run).attempts}
    # 1.5 cores are busy: for two tasks together, then for one alone
    cpu = {name: sum(part.cpu for part in one.parts) for name, one in found.items()}
    assert cpu == pytest.approx({"a0": 1.5, "a1": 1.5, "a2": 3, "b0": 2.25, "c0": 2.25}, rel=0.02)
    dirtied = {name: one.parts[0].dirtied / MB for name, one in found.items()}
    assert dirtied == pytest.approx({"a0": 1, "a1": 1, "a2": 2, "b0": 1.5, "c0": 1.5})
    # thread 11 worked for half of the 6 s that its tasks took, thread 12 for a quarter of 4 s
    blocked = {name: one.blocked for name, one in found.items()}
    assert blocked == pytest.approx({"a0": 1, "a1": 1.5, "a2": 1, "b0": 1, "c0": 1.5})


def test_slots_and_cores_of_spark_can_be_changed(tmp_path: Path) -> None:
    with opened(tmp_path, **SPARK) as run:
        one = what_if(run, [containers(1)])
        many = what_if(run, [containers(4), cores(8)])
        same = what_if(run, [setting("spark.executor.cores=1")])
        more = what_if(run, [setting("spark.executor.instances=2"), cores(8)])
    assert (same.changes, more.changes[0]) == (["1 slot of each executor"], "2 executors")
    assert (same.predicted, more.predicted) == (one.predicted, many.predicted)
    assert abs(one.off) < 0.03
    # a0, a1 and a2 one after the other: together they have no more of the CPU
    assert one.predicted > one.recorded == 10 * SECOND
    assert many.predicted < many.recorded
    assert [(row.role, row.attempts) for row in one.roles] == [("task", 5)]


def test_what_only_mapreduce_has_is_one_line(tmp_path: Path) -> None:
    asked = {
        "has no maps": split_size("--block-size", "256MiB"),
        "has no reduces": setting("mapreduce.job.reduce.slowstart.completedmaps=0.5"),
        "the run has no maps": setting("mapreduce.job.running.map.limit=2"),
        "wrote nothing to HDFS": setting("dfs.replication=2"),
    }
    with opened(tmp_path, **SPARK) as run:
        for line, change in asked.items():
            with pytest.raises(UserError, match=line):
                what_if(run, [change])
