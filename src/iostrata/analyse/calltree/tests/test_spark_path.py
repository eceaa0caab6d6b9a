"""The critical path of applications of Spark: driver, executors, and tasks by stage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iostrata.analyse.calltree.critical import CriticalPath, critical_path
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, Row, make_run, process, row_of_call, row_of_sum

MS = 1_000_000
DRIVER, MASTER, FIRST, SECOND = range(1, 5)
ROLES = {DRIVER: "client", MASTER: "appmaster", FIRST: "executor", SECOND: "executor"}
APP = "application_1"


def call(proc: int, name: str, span: int, start: int, end: int, **more: Any) -> Row:
    """A call from `start` to `end`, ms of the run."""
    layer, op = name.split(".")
    when = {"start": START + start * MS, "dur": (end - start) * MS, "point": 1}
    who = {"proc": proc, "role": ROLES[proc], "host": "node", "tid": 1, "trace": proc}
    return row_of_call(layer, op, more.pop("target", "t"), span=span, **{**when, **who, **more})


def task(proc: int, span: int, stage: int, start: int, end: int, job: str = APP) -> Row:
    """The attempt of a task, in a thread of its own."""
    of = {"job": job, "task": f"{job}_stage_{stage}.0_task_{span}.0", "phase": f"stage {stage}.0"}
    return call(proc, "task.run", span, start, end, tid=20 + span, **of)


def ran(proc: int, start: int, end: int, job: str = APP) -> Row:
    when = {"start": START + start * MS, "end": START + end * MS}
    return process(ROLES[proc], 100 + proc, proc=proc, host="node", job=job, task="", **when)


def stdin(start: int, end: int) -> Iterable[Row]:
    """The driver's main thread reads of a pipe that nobody writes into, as PySpark's does."""
    one = call(DRIVER, "java.read", 90, start, end, category="pipe")
    of = {name: one[name] for name in ("proc", "role", "host", "category")}
    return one, row_of_sum("java", "read", timed_dur=one["dur"], **of)


def path_of(store: Path) -> CriticalPath:
    with OpenedRun(find_run(store, "r")) as opened:
        return critical_path(opened)


def lines(path: CriticalPath) -> list[str]:
    return [
        f"{(part.start - START) // MS}-{(part.end - START) // MS} {part.role}"
        f" {part.name}{' waits' if part.waiting else ''}"
        for part in path.parts
    ]


def stages(path: CriticalPath) -> dict[str, tuple[int, int, int]]:
    """Tasks, and ms of time and waiting."""
    return {one.stage: (one.tasks, one.time // MS, one.waiting // MS) for one in path.by_stage}


def test_the_way_back_through_an_application_on_yarn(tmp_path: Path) -> None:
    processes = [
        ran(DRIVER, 0, 1000, job=""),
        ran(MASTER, 150, 1100),  # lives on when the driver has ended
        ran(FIRST, 250, 990),
        ran(SECOND, 260, 990),
    ]
    submit = "ApplicationClientProtocolPB.submitApplication"
    start = "ContainerManagementProtocolPB.startContainers"
    events = [
        *stdin(10, 1000),
        call(DRIVER, "rpc.call", 1, 80, 100, target=submit, tid=5),
        call(MASTER, "rpc.call", 1, 200, 220, target=start),
        call(DRIVER, "fs.list", 2, 400, 420, tid=5, job=APP),  # its context is there from 400 on
        task(FIRST, 1, 0, 450, 500),
        task(SECOND, 2, 0, 450, 560),
        call(SECOND, "hdfs.read", 3, 480, 500, tid=22, parent=2),
        call(FIRST, "hdfs.read", 4, 450, 560, tid=50),  # in no task: nothing of the path
        call(DRIVER, "fs.rename", 5, 570, 590, tid=5, job=APP),
        task(FIRST, 6, 1, 600, 880),
        task(SECOND, 7, 1, 600, 700),
        task(SECOND, 8, 1, 700, 900),
    ]
    make_run(tmp_path, "r", events, processes)
    path = path_of(tmp_path)
    assert lines(path) == [
        "0-80 client task.process",
        "80-100 client rpc.call waits",
        "100-150 appmaster task.start_container waits",
        "150-200 appmaster task.process",
        "200-260 executor task.start_container waits",
        "260-400 executor task.process",
        "400-420 client fs.list",
        "420-450 client task.process",
        "450-480 executor task.run",
        "480-500 executor hdfs.read",
        "500-560 executor task.run",
        "560-570 client task.process",
        "570-590 client fs.rename",
        "590-600 client task.process",
        "600-900 executor task.run",
        "900-1000 client task.process",
    ]
    assert stages(path) == {
        "driver": (0, 290, 20),
        "stage 1.0": (2, 300, 0),
        "executor": (0, 140, 0),
        "stage 0.0": (1, 110, 0),
        "start_container": (0, 110, 110),
        "appmaster": (0, 50, 0),
    }
    assert sum(stage.time for stage in path.by_stage) == path.wall == 1000 * MS


def test_executors_that_begin_later(tmp_path: Path) -> None:
    """Dynamic allocation: a task waits for the executor that was started for it."""
    processes = [ran(DRIVER, 0, 600, job=""), ran(MASTER, 10, 700), ran(FIRST, 20, 590)]
    start = "ContainerManagementProtocolPB.startContainers"
    events = [
        call(DRIVER, "fs.list", 1, 90, 95, job=APP),
        task(FIRST, 2, 0, 100, 200),
        call(MASTER, "rpc.call", 1, 230, 240, target=start),
        task(SECOND, 3, 1, 400, 500),
    ]
    make_run(tmp_path, "r", events, [*processes, ran(SECOND, 280, 590)])
    assert lines(path_of(tmp_path))[4:] == [
        "95-100 client task.process",
        "100-200 executor task.run",
        "200-230 client task.process",
        "230-280 executor task.start_container waits",
        "280-400 executor task.process",
        "400-500 executor task.run",
        "500-600 client task.process",
    ]


def test_a_driver_that_runs_its_tasks_itself_and_a_second_application(tmp_path: Path) -> None:
    events = [
        *stdin(0, 400),
        task(DRIVER, 2, 0, 100, 150, job="local-1"),
        task(DRIVER, 3, 0, 110, 180, job="local-1"),
        call(DRIVER, "fs.rename", 4, 190, 195, tid=5),
        task(DRIVER, 5, 0, 250, 300, job="local-2"),
    ]
    make_run(tmp_path, "r", events, [ran(DRIVER, 0, 400, job="")])
    path = path_of(tmp_path)
    assert lines(path) == [
        "0-110 client task.process",
        "110-180 client task.run",
        "180-190 client task.process",
        "190-195 client fs.rename",
        "195-250 client task.process",
        "250-300 client task.run",
        "300-400 client task.process",
    ]
    assert [(s.job, s.stage, s.time // MS) for s in path.by_stage] == [
        ("local-1", "driver", 180),
        ("local-2", "driver", 100),
        ("local-1", "stage 0.0", 70),
        ("local-2", "stage 0.0", 50),
    ]


def test_a_driver_in_its_master(tmp_path: Path) -> None:
    """Mode `cluster`: who submits the application waits for it."""
    submit = "ApplicationClientProtocolPB.submitApplication"
    events = [
        call(DRIVER, "rpc.call", 1, 30, 50, target=submit),
        call(MASTER, "fs.list", 1, 120, 130, job=APP),
        task(FIRST, 2, 0, 300, 400),
    ]
    processes = [ran(DRIVER, 0, 600, job=""), ran(MASTER, 100, 500), ran(FIRST, 200, 490)]
    make_run(tmp_path, "r", events, processes)
    assert stages(path_of(tmp_path)) == {
        "client": (0, 150, 20),
        "start_container": (0, 50, 50),
        "appmaster": (0, 20, 0),
        "driver": (0, 180, 0),
        "executor": (0, 100, 0),
        "stage 0.0": (1, 100, 0),
    }


def test_tasks_that_ended_before_their_driver_was_traced(tmp_path: Path) -> None:
    """The path begins with the driver, whatever its executors did before."""
    events = [
        task(FIRST, 2, 0, 0, 90),
        call(DRIVER, "fs.list", 1, 110, 120, job=APP),
        task(FIRST, 3, 1, 130, 150),
    ]
    make_run(tmp_path, "r", events, [ran(DRIVER, 100, 200, job=""), ran(FIRST, 0, 200)])
    path = path_of(tmp_path)
    assert (path.wall // MS, stages(path)) == (
        100,
        {"driver": (0, 80, 0), "stage 1.0": (1, 20, 0)},
    )


def test_executors_alone(tmp_path: Path) -> None:
    """Neither driver nor master is traced: attached to executors only."""
    events = [task(FIRST, 2, 0, 50, 80), task(SECOND, 3, 0, 50, 70), task(SECOND, 4, 1, 75, 90)]
    make_run(tmp_path, "r", events, [ran(FIRST, 0, 95), ran(SECOND, 0, 100)])
    assert stages(path_of(tmp_path)) == {
        "driver": (0, 65, 0),
        "stage 0.0": (1, 20, 0),
        "stage 1.0": (1, 15, 0),
    }
