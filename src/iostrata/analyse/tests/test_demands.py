from __future__ import annotations

from iostrata.analyse.demands import (
    BlockWrite,
    DeviceMoment,
    Dirtied,
    MapMerge,
    ServerRead,
    TaskThread,
    block_writes,
    device_moments,
    dirtied,
    map_merges,
    server_reads,
    task_threads,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import (
    SECOND,
    START,
    device,
    process,
    row_of_call,
    row_of_sum,
    thread,
    usage,
)

MAP = "attempt_1_0001_m_000000_0"


def test_what_datanodes_wrote_for_attempts(traced: Traced) -> None:
    rows = [
        row_of_sum("datanode", "write", task=MAP, host="a", bytes=5),
        row_of_sum("datanode", "write", task=MAP, host="a", bytes=2),
        row_of_sum("datanode", "write", task=MAP, host="b", bytes=7),
        row_of_sum("datanode", "write", task=MAP, host="b", bytes=7, flags=FLAG["double_counted"]),
        row_of_sum("datanode", "write", host="b", bytes=100),
        row_of_sum("datanode", "send_packet", task=MAP, host="b", bytes=100),
        row_of_sum("datanode", "write", task="idle", host="b"),
    ]
    found = traced(rows).records(block_writes(), BlockWrite)
    assert found == [BlockWrite(MAP, "a", 7), BlockWrite(MAP, "b", 7)]


def test_when_maps_began_to_merge(traced: Traced) -> None:
    def merged(task: str, start: int, role: str = "map", op: str = "merge") -> dict[str, object]:
        times = {"start": START + start, "dur": 5}
        return row_of_call("task", op, "/f", task=task, role=role, phase="sort", **times)

    rows = [
        merged(MAP, 7),
        merged(MAP, 5),
        merged(MAP, 3, op="spill"),
        merged("attempt_1_0001_r_000000_0", 2, role="reduce"),
        merged("", 1),
    ]
    assert traced(rows).records(map_merges(), MapMerge) == [MapMerge(MAP, START + 5)]


def test_what_servers_fetched_from_disks(traced: Traced) -> None:
    processes = [
        process("DataNode", 1, host="a", disk_read=3),
        process("DataNode", 2, host="a", disk_read=4),
        process("NodeManager", 3, host="a", disk_read=5),
        process("NodeManager", 4, host="b", disk_read=None),
        process("client", 5, host="b", disk_read=9),
    ]
    found = traced([], processes=processes).records(server_reads(), ServerRead)
    assert found == [ServerRead("DataNode", "a", 7), ServerRead("NodeManager", "a", 5)]


def test_what_devices_of_a_host_moved(traced: Traced) -> None:
    devices = [
        device("sda", 0, read=1, written=2),
        device("sdb", 0, written=4),
        device("sda", 1, read=8),
        device("sda", 0, host="other"),
    ]
    found = traced([], devices=devices).records(device_moments(), DeviceMoment)
    assert found == [
        DeviceMoment("node", START, SECOND, 7, 6),
        DeviceMoment("node", START + SECOND, SECOND, 8, 0),
        DeviceMoment("other", START, SECOND, 0, 0),
    ]


def test_what_processes_left_to_disks(traced: Traced) -> None:
    processes = [process("map", 1, proc=1, host="a"), process("map", 2, proc=2, host="a")]
    usages = [usage(1, 0, disk_written=3), usage(2, 0, disk_written=4), usage(2, 1, cpu=5)]
    usages += [usage(9, 0, disk_written=100)]  # of nobody who is known
    found = traced([], processes=processes, usages=usages).records(dirtied(), Dirtied)
    assert found == [Dirtied("a", START, SECOND, 7)]


def test_how_long_the_threads_of_attempts_worked(traced: Traced) -> None:
    def ran(task: str, tid: int, dur: int, **more: object) -> dict[str, object]:
        given = {"phase": "stage 0.0", "task": task, "proc": 3, "tid": tid, "dur": dur, **more}
        return row_of_call("task", "run", "", **given)

    rows = [
        ran("t0", 7, 30),
        ran("t1", 7, 10, start=START + 30),  # the same thread ran both
        ran("t2", 8, 20),
        ran("a call of MapReduce", 1, 5, phase="map"),
    ]
    processes = [
        process("map", 1, proc=1, task=MAP),
        process("map", 2, proc=2, task="not looked at"),
        process("executor", 3, proc=3),
    ]
    threads = [
        thread(1, 1, "main", cpu=3, queued=4),
        thread(1, 9, "SpillThread", cpu=100),
        thread(3, 7, "Executor task launch worker", cpu=8, queued=4),
    ]
    found = traced(rows, processes=processes, threads=threads)
    assert sorted(found.records(task_threads(), TaskThread), key=lambda one: one.proc) == [
        TaskThread(MAP, 1, 7),
        TaskThread("not looked at", 2, None),
        TaskThread("t0", 3, 9),
        TaskThread("t1", 3, 3),
        TaskThread("t2", 3, None),
    ]
