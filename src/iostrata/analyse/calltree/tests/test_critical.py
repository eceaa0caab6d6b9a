"""The critical path: every moment of the job once, working or waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iostrata.analyse.calltree.bottlenecks import Bottlenecks, bottlenecks
from iostrata.analyse.calltree.critical import critical_path
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, Row, make_run, process, row_of_call, row_of_sum

MS = 1_000_000
CLIENT, MASTER, MAP, SLOW_MAP, REDUCE, NAMENODE = range(1, 7)
ROLES = {1: "client", 2: "appmaster", 3: "map", 4: "map", 5: "reduce", 6: "NameNode"}
TASKS = {MAP: "attempt_m_0", SLOW_MAP: "attempt_m_1", REDUCE: "attempt_r_0"}


def call(proc: int, name: str, span: int, start: int, end: int, **more: Any) -> Row:
    """A call from `start` to `end`, ms of the run."""
    layer, op = name.split(".")
    when = {"start": START + start * MS, "dur": (end - start) * MS, "point": 1}
    who = {"proc": proc, "role": ROLES[proc], "host": "node", "tid": 1, "trace": proc}
    return row_of_call(layer, op, more.pop("target", "t"), span=span, **{**when, **who, **more})


def ran(proc: int, start: int, end: int, **more: Any) -> Row:
    job = "" if proc in (CLIENT, NAMENODE) else "job_1"
    when = {"start": START + start * MS, "end": START + end * MS}
    known = {"proc": proc, "host": "node", "job": job, "task": TASKS.get(proc, "")}
    return process(ROLES[proc], 100 + proc, **known, **when, **more)


def job(store: Path) -> None:
    """A client submits at 100; two maps, the slower done at 600; a reduce takes its output."""
    processes = [
        ran(CLIENT, 0, 1000),
        ran(MASTER, 150, 1200),  # lives on after its job
        ran(MAP, 300, 500),
        ran(SLOW_MAP, 310, 700),  # its process ends after its task
        ran(REDUCE, 450, 900),
        ran(NAMENODE, 0, 0, exit="running") | {"end": None},
    ]
    served = {"parent": 2, "parent_proc": SLOW_MAP, "trace": SLOW_MAP}
    events = [
        call(
            CLIENT, "rpc.call", 1, 80, 100, target="ApplicationClientProtocolPB.submitApplication"
        ),
        call(MASTER, "task.setup_job", 1, 180, 200),
        call(
            MASTER, "rpc.call", 2, 250, 260, target="ContainerManagementProtocolPB.startContainers"
        ),
        call(SLOW_MAP, "task.run", 1, 350, 600),
        call(SLOW_MAP, "rpc.call", 2, 400, 500, parent=1),
        call(NAMENODE, "rpc.handle", 1, 420, 450, **served),
        call(MAP, "task.run", 1, 350, 480),
        call(REDUCE, "task.run", 1, 460, 895),
        call(REDUCE, "task.shuffle", 2, 480, 700, parent=1),
        call(REDUCE, "task.accept", 3, 640, 650, parent=2, tid=9, target="attempt_m_1"),
    ]
    make_run(store, "r", events, processes)


def test_the_way_back_through_a_job(tmp_path: Path) -> None:
    job(tmp_path)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        path = critical_path(opened)
    lines = [
        f"{(part.start - START) // MS}-{(part.end - START) // MS} {part.role}"
        f" {part.name}{' waits' if part.waiting else ''}"
        for part in path.parts
    ]
    assert lines == [
        "0-80 client task.process",
        "80-100 client rpc.call waits",
        "100-150 appmaster task.start_container waits",
        "150-180 appmaster task.process",
        "180-200 appmaster task.setup_job",
        "200-250 map task.allocate_container waits",
        "250-310 map task.start_container waits",
        "310-350 map task.process",
        "350-400 map task.run",
        "400-420 map rpc.call waits",
        "420-450 NameNode rpc.handle",
        "450-500 map rpc.call waits",
        "500-600 map task.run",
        "600-640 reduce task.shuffle waits",
        "640-650 reduce task.accept",
        "650-700 reduce task.shuffle waits",
        "700-895 reduce task.run",
        "895-1000 client task.process",
    ]
    assert path.wall == 1000 * MS
    assert sum(one.time for one in path.by_function) == 1000 * MS
    stages = [(s.job, s.stage, s.tasks, s.time // MS, s.waiting // MS) for s in path.by_stage]
    assert stages == [
        ("job_1", "reduce", 1, 295, 90),
        ("job_1", "map", 1, 290, 70),
        ("", "client", 0, 205, 20),
        ("job_1", "start_container", 0, 110, 110),
        ("job_1", "allocate_container", 0, 50, 50),
        ("job_1", "appmaster", 0, 50, 0),
    ]


def test_functions_are_ranked_with_working_and_waiting(tmp_path: Path) -> None:
    job(tmp_path)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        by_path = bottlenecks(opened)
        by_self = bottlenecks(opened, "self")
    first = by_path.functions[0]
    assert (first.op, first.role, first.critical) == ("run", "reduce", 195 * MS)
    call = next(row for row in by_self.functions if (row.op, row.role) == ("call", "map"))
    # 30 of its 100 ms the NameNode was at work
    assert (call.self, call.self_waiting) == (100 * MS, 70 * MS)
    waiting = sum(row.critical_waiting for row in by_path.functions)
    assert (by_path.wall, waiting) == (1000 * MS, 340 * MS)


def test_clients_one_after_the_other(tmp_path: Path) -> None:
    first = ran(CLIENT, 0, 100)
    second = ran(CLIENT, 250, 400) | {"proc": 77}
    make_run(tmp_path, "r", [call(CLIENT, "fs.open", 1, 20, 50)], [first, second])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        path = critical_path(opened)
    shown = [(part.op, (part.end - part.start) // MS) for part in path.parts]
    assert shown == [
        ("process", 20),
        ("open", 30),
        ("process", 50),
        ("outside", 150),
        ("process", 150),
    ]


def test_who_reads_a_pipe_waits_for_the_process_behind_it(tmp_path: Path) -> None:
    # as Spark's driver does for as long as a Python program lives, in a thread of its own
    def read(span: int, start: int, end: int, tid: int) -> list[Row]:
        one = call(CLIENT, "java.read", span, start, end, tid=tid, category="pipe")
        of = {name: one[name] for name in ("proc", "role", "host", "category")}
        return [one, row_of_sum("java", "read", timed_dur=one["dur"], **of)]

    events = [call(CLIENT, "fs.open", 1, 20, 50), *read(2, 60, 90, tid=1), *read(3, 10, 390, tid=9)]
    make_run(tmp_path, "r", events, [ran(CLIENT, 0, 400)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        parts = critical_path(opened).parts
        ranked = bottlenecks(opened, "self").functions
    shown = [(one.op, (one.end - one.start) // MS, one.waiting) for one in parts]
    assert shown == [
        ("process", 20, False),
        ("open", 30, False),
        ("process", 10, False),
        ("read", 30, True),
        ("process", 310, False),
    ]
    assert [(one.op, one.self // MS, one.self_waiting // MS) for one in ranked[:1]] == [
        ("read", 410, 410)
    ]


def test_a_run_without_calls_has_no_path(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [], [])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        ranked = bottlenecks(opened)
        assert critical_path(opened).parts == []
    assert ranked == Bottlenecks(
        "critical", 0, sampled=False, functions=[], stages=[], incomplete=[]
    )
