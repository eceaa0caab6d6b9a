from __future__ import annotations

from typing import Any

from iostrata.analyse.parts import (
    PartBin,
    PartFiles,
    PartOperation,
    part_bins,
    part_files,
    part_operations,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, process, row_of_call, row_of_sum

US = 1000
# A is a job of Hadoop: a client and a task; B a native program. A DataNode and a server of another
# file system work for both.
JOB = "job_1_0001"
PROCESSES = [
    process("client", 1, proc=1, part="A", jvm="17", start=START, end=START + 9, cpu=10),
    process("map", 2, proc=2, part="A", job=JOB, jvm="17", start=START + 1, end=START + 8, cpu=20),
    process("client", 3, proc=3, part="B", jvm=None, start=START, end=START + 5, cpu=5),
    process("DataNode", 4, proc=4, jvm="17", cpu=7),
    process("mfschunkserver", 5, proc=5, jvm=None, host="node-1"),
    process("mfsmount", 6, proc=6, jvm=None),
]  # fmt: skip


def did(layer: str, op: str, proc: int, size: int, **more: Any) -> dict[str, Any]:
    given = {"role": "x", "category": "file", "host": "vm", "bytes": size, "count": 2, **more}
    return row_of_sum(layer, op, proc=proc, **given)


EVENTS = [
    did("fs", "write", 2, 100, job=JOB),
    did("java", "write", 2, 300, job=JOB),  # the same bytes, and more
    did("java", "read", 1, 50),
    did("posix", "write", 3, 70),
    did("posix", "send", 3, 900, category="socket"),
    did("java", "write", 4, 100, job=JOB),  # what the DataNode does for the task
    did("java", "read", 4, 8),
    did("posix", "write", 5, 70, host="node-1", role="mfschunkserver"),
    did("posix", "read", 6, 70, role="mfsmount"),
]


def test_parts_stand_beside_each_other(traced: Traced) -> None:
    found = traced(EVENTS, processes=PROCESSES).records(part_files(), PartFiles)
    assert [(row.part, row.processes, row.cpu) for row in found] == [
        ("A", 2, 30),
        ("B", 1, 5),
        ("", 3, 7),
    ]
    assert [(row.start, row.end) for row in found[:2]] == [(START, START + 9), (START, START + 5)]
    moved = {row.part: (row.calls, row.bytes_read, row.bytes_written) for row in found}
    assert moved == {"A": (4, 50, 100), "B": (2, 0, 70), "": (6, 8, 170)}


def test_operations_of_a_part_have_those_of_servers_that_know_its_job(traced: Traced) -> None:
    found = traced(EVENTS, processes=PROCESSES).records(part_operations(), PartOperation)
    of_a = {(row.layer, row.op, row.bytes_written) for row in found if row.part == "A"}
    assert of_a == {("fs", "write", 100), ("java", "write", 400), ("java", "read", 0)}


def test_what_parts_and_servers_moved_is_in_bins(traced: Traced) -> None:
    engine = traced(EVENTS, processes=PROCESSES)
    found = engine.records(part_bins(START, SECOND), PartBin)
    written = {(row.part, row.host): 0 for row in found}
    for row in found:
        written[row.part, row.host] += row.written
    assert written == {("A", "vm"): 100, ("B", "vm"): 70, ("", "vm"): 100, ("", "node-1"): 70}


def test_a_run_of_one_program_has_no_parts(traced: Traced) -> None:
    engine = traced([row_of_call("posix", "read", "/a")], processes=[process("client", 1, proc=1)])
    assert engine.records(part_files(), PartFiles) == []
    assert engine.records(part_operations(), PartOperation) == []
    assert engine.records(part_bins(START, SECOND), PartBin) == []
