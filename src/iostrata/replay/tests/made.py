"""A run whose job of one map and one reduce can be replayed: made rows of all that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import (
    SECOND,
    START,
    device,
    make_run,
    process,
    row_of_call,
    row_of_sum,
    sample,
    usage,
)

JOB = "job_1_0001"
MAP, REDUCE = "attempt_1_0001_m_000000_0", "attempt_1_0001_r_000000_0"
MB = 10**6


def at(seconds: float) -> int:
    return START + round(seconds * SECOND)


def attempt(role: str, proc: int, task: str, start: float, end: float, **more: Any) -> Any:
    times = {"start": at(start), "end": at(end)}
    return process(
        role, proc, proc=proc, task=task, **{"job": JOB, "host": "node", **times, **more}
    )


def phase(proc: int, task: str, name: str, start: float, end: float) -> Any:
    times = {"start": at(start), "dur": round((end - start) * SECOND)}
    whose = {"proc": proc, "task": task, "job": JOB, "span": proc * 100 + round(start * 10)}
    return row_of_call("task", "process", "/in", phase=name, **times, **whose)


PROCESSES = [
    attempt("map", 1, MAP, 1, 5),
    attempt("reduce", 2, REDUCE, 4, 9),
    process("DataNode", 3, proc=3, host="node", disk_read=4 * MB),
]
EVENTS = [
    phase(1, MAP, "map", 2, 4),
    phase(1, MAP, "sort", 4, 5),
    phase(2, REDUCE, "shuffle", 4.5, 7),
    phase(2, REDUCE, "reduce", 7, 9),
    row_of_sum("datanode", "write", task=REDUCE, host="node", bytes=40 * MB, span=7),
    row_of_sum("datanode", "send_packet", task=MAP, host="node", bytes=20 * MB, span=8),
    row_of_sum(
        "fs", "write", task=REDUCE, category="hdfs", bytes=20 * MB, span=9, job=JOB, host="node"
    ),
]
# half of a core each, and as much of daemons
USAGES = [usage(1, second, cpu=SECOND // 2, disk_written=2 * MB) for second in range(1, 5)]
USAGES += [usage(2, second, cpu=SECOND // 2) for second in range(4, 9)]
USAGES += [usage(3, second, cpu=SECOND // 2) for second in range(1, 9)]
SYSTEM = [
    sample(second, cpu_user=SECOND, cpu_idle=SECOND, io_pressure=SECOND // 2)
    for second in range(10)
]
DEVICES = [device("sda", second, written=10 * MB) for second in range(10)]
WHOLE = {
    "events": EVENTS,
    "processes": PROCESSES,
    "usages": USAGES,
    "system": SYSTEM,
    "devices": DEVICES,
    "end": at(10),
}


@contextmanager
def opened(folder: Path, **tables: Any) -> Iterator[OpenedRun]:
    make_run(folder, "r", **{**WHOLE, **tables})
    with OpenedRun(find_run(folder, "r")) as run:
        yield run
