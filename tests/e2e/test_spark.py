"""Applications of Spark: every task attempt as Spark has it, with its bytes; a workload on it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Between, Verifies
from tests.e2e.labs import Labs

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.analyse.calltree.critical import critical_path
from iostrata.analyse.engine import DuckDb
from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

pytestmark = [pytest.mark.cluster, pytest.mark.spark]
pytest.importorskip("pyspark", reason="pyspark is not installed: scripts/test e2e has it")
MS = 10**6
PROGRAM = Path(__file__).with_name("spark_program.py")
# A sorter of serialized rows (point 623) that never was full writes one file: to Spark no spill.
TRACED = """
SELECT task, phase, max(job), sum(CASE WHEN op = 'run' THEN count ELSE 0 END)::BIGINT,
  sum(CASE WHEN layer = 'hdfs' AND op = 'read' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN op = 'shuffle_commit' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN op = 'local_block' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN layer = 'task' AND op = 'receive' THEN bytes ELSE 0 END)::BIGINT,
  (sum(CASE WHEN op = 'spill' AND point <> 623 THEN bytes ELSE 0 END)
    + CASE WHEN sum(CASE WHEN point = 623 THEN count ELSE 0 END) > 1
      THEN sum(CASE WHEN point = 623 THEN bytes ELSE 0 END) ELSE 0 END)::BIGINT
FROM events WHERE kind = 'sum' AND phase LIKE 'stage %' AND task <> '' GROUP BY task, phase
"""
# What executors asked of servers for a task, and what these did: an executor has one client for all
# of its tasks. Bytes read and sent, sent on and received by DataNodes; RPCs called and served.
SERVED = """
SELECT task,
  sum(CASE WHEN role = 'executor' AND layer = 'hdfs' AND op = 'read' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN op = 'send_block' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN op IN ('send_packet', 'mirror_packet') AND layer = 'hdfs'
    THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN op = 'receive_block' THEN bytes ELSE 0 END)::BIGINT,
  sum(CASE WHEN role = 'executor' AND layer = 'rpc' AND op = 'call' THEN count ELSE 0 END)::BIGINT,
  sum(CASE WHEN role = 'NameNode' AND op = 'handle' THEN count ELSE 0 END)::BIGINT
FROM events WHERE kind = 'sum' AND phase LIKE 'stage %' AND task <> '' GROUP BY task
"""


@pytest.fixture(scope="module")
def cluster(labs: Labs) -> Cluster:
    found = labs.at()
    found.environment["PYSPARK_PYTHON"] = sys.executable
    found.environment["_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"  # of drivers
    return found


def counted(log: Path) -> dict[str, tuple[Any, ...]]:
    """The attempts in an event log, in the columns of TRACED; what a stage reads from the cache of
    an executor is no input.
    """
    events = [json.loads(line) for line in log.read_text().splitlines()]
    submitted = [e["Stage Info"] for e in events if e["Event"] == "SparkListenerStageSubmitted"]
    caching = {
        stage["Stage ID"]
        for stage in submitted
        if any(rdd["Storage Level"]["Use Memory"] for rdd in stage["RDD Info"])
    }
    (application,) = [e["App ID"] for e in events if e["Event"] == "SparkListenerApplicationStart"]
    found = {}
    for event in events:
        if event["Event"] != "SparkListenerTaskEnd":
            continue
        info, metrics = event["Task Info"], event["Task Metrics"]
        stage = f"{event['Stage ID']}.{event['Stage Attempt ID']}"
        task = f"{application}_stage_{stage}_task_{info['Index']}.{info['Attempt']}"
        read, written = metrics["Shuffle Read Metrics"], metrics["Shuffle Write Metrics"]
        found[task] = (
            *(task, f"stage {stage}", application, 1),
            0 if event["Stage ID"] in caching else metrics["Input Metrics"]["Bytes Read"],
            written["Shuffle Bytes Written"],
            read["Local Bytes Read"] + read["Remote Bytes Read"],
            metrics["Disk Bytes Spilled"],
        )
    return found


def times(log: Path) -> dict[str, tuple[int, int]]:
    """ms since the epoch at which the driver launched an attempt, and knew that it had ended."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (application,) = [e["App ID"] for e in events if e["Event"] == "SparkListenerApplicationStart"]
    found = {}
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            info, stage = event["Task Info"], f"{event['Stage ID']}.{event['Stage Attempt ID']}"
            name = f"{application}_stage_{stage}_task_{info['Index']}.{info['Attempt']}"
            found[name] = (info["Launch Time"], info["Finish Time"])
    return found


def cpu(log: Path) -> int:
    """ns of CPU of all attempts, by their own clocks."""
    ends = (json.loads(line) for line in log.read_text().splitlines() if "TaskEnd" in line)
    tasks = [event["Task Metrics"] for event in ends if event["Event"] == "SparkListenerTaskEnd"]
    return sum(one["Executor CPU Time"] + one["Executor Deserialize CPU Time"] for one in tasks)


def alone(log: Path) -> dict[str, tuple[int, int]]:
    """Stages beside which no other one ran: ms of their last task, and of all of the stage."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    spans = {}
    for event in events:
        if event["Event"] == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            name = f"stage {info['Stage ID']}.{info['Stage Attempt ID']}"
            spans[name] = (info["Submission Time"], info["Completion Time"])
    last: dict[str, tuple[int, int]] = {}
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            name = f"stage {event['Stage ID']}.{event['Stage Attempt ID']}"
            end, start = event["Task Info"]["Finish Time"], event["Task Info"]["Launch Time"]
            last[name] = max(last.get(name, (0, 0)), (end, end - start))
    return {
        name: (last[name][1], end - begin)
        for name, (begin, end) in spans.items()
        if all(b >= end or e <= begin for other, (b, e) in spans.items() if other != name)
    }


def test_every_task_attempt_is_what_spark_says_of_it(
    cluster: Cluster, verifies: Verifies, tmp_path: Path
) -> None:
    command = (sys.executable, str(PROGRAM), "yarn", "/words", tmp_path.as_uri())
    cluster.record("every", *command)
    (log,) = tmp_path.iterdir()
    wanted = counted(log)
    run = cluster.run("every")
    rows = {row[0]: row for row in run.rows(TRACED)}
    # blocks of the other executor are local to Spark where it finds them on the same host
    traced = {task: (*row[:6], row[6] + row[7], row[8]) for task, row in rows.items()}
    assert traced == wanted
    assert sum(row[7] for row in rows.values()) > 0  # blocks of the other executor
    assert sum(row[7] for row in wanted.values()) > 0  # spilled
    # NameNode and DataNodes know the task that they serve, whichever DataNode a block is sent on to
    served = {row[0]: row[1:] for row in run.rows(SERVED)}
    assert set(served) == set(wanted)
    for read, sent, written, received, called, handled in served.values():
        assert (read, written, called) == (sent, received, handled)
    reads, writes = (sum(row[at] for row in served.values()) for at in (0, 2))
    assert reads > 0
    assert writes > 0
    executors = run.rows("SELECT job, traced FROM processes WHERE role = 'executor'")
    (application,) = {row[2] for row in wanted.values()}
    assert executors == [(application, True)] * 2

    # threads of tasks had the CPU that tasks had, and what is around them
    worked = run.one("SELECT sum(cpu)::BIGINT FROM threads WHERE thread LIKE 'Executor task %'")
    assert cpu(log) < worked < 1.5 * cpu(log)

    # the report and the rules know each attempt, by the clock of Spark and what it fetched
    with OpenedRun(find_run(cluster.store, "every")) as opened:
        attempted = {row.task: row for row in DuckDb(opened).records(attempts, Attempt)}
    assert set(attempted) == set(wanted)
    for task, (start, end) in times(log).items():
        attempt = attempted[task]
        assert (attempt.stage, attempt.exit) == (wanted[task][1], "ended")
        assert attempt.fetched == wanted[task][6]
        # Spark says that it has ended before the call does
        assert start * MS <= (attempt.start or 0) < min(attempt.end or 0, (end + 1) * MS)

    # the path goes through every stage that ran alone, for as long as its last task at the least
    with OpenedRun(find_run(cluster.store, "every")) as opened:
        path = critical_path(opened)
    assert sum(stage.time for stage in path.by_stage) == path.wall
    on_path = {stage.stage: stage for stage in path.by_stage if stage.job == application}
    single = alone(log)
    assert len(single) > 5
    for name, (task_ms, stage_ms) in single.items():
        # two tasks can end within a millisecond: the shorter one may be the last then
        assert 0 < on_path[name].time <= (stage_ms + 100) * MS
        assert on_path[name].time >= (task_ms // 2 - 100) * MS
        assert on_path[name].tasks > 0
    # and where no task runs, through the driver, the starts of containers and an executor: how long
    # each of them takes is the machine's, but hardly anything is left for anybody else
    between = ("driver", "start_container", "executor", "appmaster")
    assert set(between[:3]) <= set(on_path)
    outside = path.wall - sum(stage.time for stage in path.by_stage if stage.tasks)
    assert sum(on_path[name].time for name in between if name in on_path) > 0.9 * outside

    # its replay has all tasks, and takes as long; on one slot they take longer
    done = cluster.iostrata("what-if", "every", "--containers", "1", "--json")
    assert done.returncode == 0, done.stderr
    replayed = json.loads(done.stdout)
    (tasks,) = replayed["roles"]
    assert (tasks["role"], tasks["attempts"]) == ("task", len(wanted))
    assert replayed["replayed"] == pytest.approx(replayed["recorded"], rel=0.1)
    assert replayed["predicted"] > replayed["recorded"]

    shuffling = sum(row[5] > 0 for row in wanted.values())
    # every way to write and to spill at least once: how often is Spark's to decide
    once = Between(1)
    points = {p.id: once for p in POINTS if p.cls.startswith("org.apache.spark") and p.makes_rows}
    verifies(run, points | {600: len(wanted), 613: shuffling})


@pytest.mark.drawn("whole clusters", 2)
def test_a_workload_on_spark_is_recorded_like_any_other(cluster: Cluster) -> None:
    sets = [f"--set={one}" for one in ("vertices=40", "edges=3", "hops=2", "partitions=2")]
    words = ("workload", "run", "nweight", "--lab", cluster.name, "--json", *sets)
    done = cluster.iostrata(*words, "--record", "--run", "ties")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["weight_sum"] == pytest.approx(40)  # the weights of each vertex sum up to 1
    spark = result["spark"]
    assert (spark["failed"], spark["application"][:6]) == (0, "local-")
    rows = cluster.run("ties").rows(TRACED)
    assert {row[2] for row in rows} == {spark["application"]}
    assert len(rows) == spark["tasks"]
    assert sum(row[5] for row in rows) == spark["shuffle_written"] > 0
    assert sum(row[6] for row in rows) == spark["shuffle_read_local"]
    assert "iostrata-" not in cluster.hadoop("hadoop", "fs", "-ls", "/tmp")
