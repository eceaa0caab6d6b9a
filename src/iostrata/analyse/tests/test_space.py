from __future__ import annotations

from iostrata.analyse.engine import Engine
from iostrata.analyse.space import (
    JobSpace,
    NameChange,
    OwnerEnd,
    WrittenBytes,
    WrittenFile,
    job_spaces,
    name_changes,
    owner_ends,
    written_bytes,
    written_files,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import SECOND, START, process, row_of_call, row_of_sum

JOB = "job_1_0001"
OUT = "/out/_temporary/1/_temporary/attempt_1_0001_r_000000_0"


def at(second: int, dur: int = SECOND) -> dict[str, int]:
    return {"start": START + second * SECOND, "dur": dur}


def job(traced: Traced) -> Engine:
    """A map that spills 1,000 bytes, a reduce that writes 300 to HDFS, and a client's log."""
    map_ = {"job": JOB, "role": "map", "proc": 1}
    reduce_ = {"job": JOB, "role": "reduce", "proc": 2}
    hdfs, spill = {"category": "hdfs"}, {"category": "spill"}
    part = f"{OUT}/part-0"
    events = [
        row_of_sum("java", "write", bytes=600, target="/l/spill0.out", **spill, **map_, **at(0)),
        row_of_sum("java", "write", bytes=400, **spill, **map_, **at(0)),
        # of these 400, one call has a name
        row_of_call("java", "write", "/l/spill1.out", bytes=150, **map_, **at(0) | spill),
        row_of_sum("fs", "write", bytes=300, target=part, **hdfs, **reduce_, **at(2)),
        row_of_call("hdfs", "rename", OUT, **hdfs | reduce_ | at(4, 0)),
        row_of_call("hdfs", "delete", "/out/_temporary", **hdfs | reduce_ | at(5, 0)),
        row_of_call("hdfs", "delete", "/failed", error="e", **hdfs | reduce_ | at(5, 0)),
        row_of_sum("java", "write", bytes=7, category="log", role="client", proc=3, **at(1)),
        # counted elsewhere, or by somebody else
        row_of_sum("java", "write", bytes=50, category="socket", **map_, **at(0)),
        row_of_sum("java", "write", bytes=50, category="file", role="NodeManager", **at(0)),
        row_of_sum("java", "write", bytes=50, flags=FLAG["double_counted"], **spill, **map_),
    ]
    of_job = {"job": JOB}
    processes = [
        process("map", 1, proc=1, end=START + 2 * SECOND, **of_job),
        process("reduce", 2, proc=2, end=START + 6 * SECOND, **of_job),
        process("client", 3, proc=3),
    ]
    return traced(events, processes=processes)


def test_space_of_jobs(traced: Traced) -> None:
    assert job_spaces(job(traced)) == [
        JobSpace(
            job=JOB, role=None, written=1300, hdfs=300, most=1300, most_at=START + 3 * SECOND,
            temporary=1000, left=300, unnamed=250,
        ),
        JobSpace(
            job=None, role="client", written=7, hdfs=0, most=7, most_at=START + 2 * SECOND,
            temporary=0, left=7, unnamed=7,
        ),
    ]  # fmt: skip


def test_what_space_is_made_of(traced: Traced) -> None:
    engine = job(traced)
    first, second = START, START + SECOND
    assert engine.records(written_bytes, WrittenBytes)[0] in (
        WrittenBytes(JOB, None, 1, "java", "spill", 1000, first, second),
        WrittenBytes(None, "client", 3, "java", "log", 7, second, second + SECOND),
    )
    assert engine.records(written_files, WrittenFile) == [
        WrittenFile(JOB, None, 1, "java", "spill", "/l/spill0.out", 600, first, second),
        WrittenFile(
            *(JOB, None, 2, "fs", "hdfs", f"{OUT}/part-0"),
            *(300, START + 2 * SECOND, START + 3 * SECOND),
        ),
        WrittenFile(JOB, None, 1, "java", "spill", "/l/spill1.out", 150, first, second),
    ]
    ends = engine.records(owner_ends, OwnerEnd)
    assert sorted(ends, key=lambda row: row.job or "") == [
        OwnerEnd(None, "client", None),
        OwnerEnd(JOB, None, START + 6 * SECOND),
    ]


def test_calls_that_change_names_count_once_they_have_succeeded(traced: Traced) -> None:
    engine = traced(
        [
            row_of_call("hdfs", "delete", "/a", **at(1, 5)),
            row_of_call("hdfs", "delete", "/failed", error="e", **at(1)),
            row_of_sum("hdfs", "rename", target="/b", count=2, errors=1, **at(2)),
            row_of_sum("hdfs", "create", target="/c", count=2, errors=2, **at(2)),
            row_of_call("namenode", "delete", "/d", **at(2)),
        ]
    )
    assert engine.records(name_changes(), NameChange) == [
        NameChange("hdfs", "delete", "/a", START + SECOND + 5),
        NameChange("hdfs", "rename", "/b", START + 3 * SECOND),
    ]


def test_space_of_a_native_program(traced: Traced) -> None:
    """A file that it deletes, one that it copies, and one that replaces another by a rename."""
    copy, splice = 743, 744
    mine = {"category": "file", "role": "client"}
    moves = {"bytes": 30, "category": "file", "role": "client"}
    engine = traced(
        [
            row_of_sum("posix", "write", bytes=100, target="/t/a", **mine, **at(0)),
            row_of_call("posix", "delete", "/t/a", **mine | at(2, 0)),
            row_of_sum("posix", "transfer", point=copy, target="/t/b", **moves, **at(3)),
            row_of_sum("posix", "transfer", point=splice, target="/t/read", **moves, **at(3)),
            row_of_sum("posix", "write", bytes=5, target="/t/c", **mine, **at(4)),
            row_of_call("posix", "rename", "/t/c", **mine | at(6, 0)),
            row_of_sum("posix", "write", bytes=9, target="/dev/null", **mine, **at(4)),
            row_of_sum("posix", "write", bytes=9, category="pipe", role="client", **at(4)),
        ],
        processes=[process("client", 1, proc=1)],
    )
    (space,) = job_spaces(engine)
    assert (space.written, space.most, space.left, space.hdfs) == (135, 100, 30, 0)


def test_a_run_that_writes_nothing_uses_no_space(traced: Traced) -> None:
    assert job_spaces(traced([row_of_sum("java", "read")])) == []
