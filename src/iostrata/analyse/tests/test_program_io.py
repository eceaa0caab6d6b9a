from __future__ import annotations

from typing import Any

from iostrata.analyse.program_io import FileBytes, FileLoad, InIo, file_bytes, file_loads, in_io
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, row_of_call, row_of_sum

READ, WRITE = "read", "write"
KIB = 1 << 10


def call(at: float, place: int, **more: Any) -> dict[str, Any]:
    """A read of 64 KiB of /data/a that begins at `at` seconds and takes a tenth of one."""
    given: dict[str, Any] = {
        "host": "node",
        "proc": 1,
        "tid": 1,
        "category": "file",
        "op": READ,
        "target": "/data/a",
        "bytes": 64 * KIB,
    }
    given |= {"offset": place, "start": START + round(at * SECOND), "dur": SECOND // 10, **more}
    op, target = given.pop("op"), given.pop("target")
    return row_of_call("posix", op, target, **given)


def test_what_follows_is_in_sequence(traced: Traced) -> None:
    """GIVEN a thread that goes through a file, leaves out less than is read ahead, and then jumps
    AND another one that is elsewhere in the same file
    THEN each is judged for itself, and the first request like the second."""
    engine = traced(
        [
            call(0.0, 0),
            call(0.3, 64 * KIB),
            call(1.0, 192 * KIB),
            call(1.5, 1 << 30),
            call(0.1, 512 << 20, tid=2),
            call(0.2, 100 << 20, tid=2),
        ]
    )
    extent = (1 << 30) + 64 * KIB
    assert engine.records(file_loads(START, SECOND), FileLoad) == [
        FileLoad(0, "read", False, False, False, 1, 2, 2, 128 * KIB, extent),
        FileLoad(0, "read", True, False, False, 1, 1, 2, 128 * KIB, extent),
        FileLoad(1, "read", False, False, False, 1, 1, 1, 64 * KIB, extent),
        FileLoad(1, "read", True, False, False, 1, 1, 1, 64 * KIB, extent),
    ]


def test_the_size_is_that_of_files(traced: Traced) -> None:
    """GIVEN a thread that reads twice as much of one file as of another, and one that goes on
    THEN the size is their mean, by bytes, whoever moved what."""
    engine = traced(
        [
            call(0.0, 0),
            call(0.1, 64 * KIB),
            call(0.2, 0, target="/data/b"),
            call(0.3, 128 * KIB, tid=2),
        ]
    )
    first, _ = engine.records(file_loads(START, SECOND), FileLoad)
    assert (first.bytes, first.size) == (192 * KIB, (2 * 192 + 64) * KIB // 3)


def test_what_is_read_again_is_told_apart(traced: Traced) -> None:
    """GIVEN two threads that read the same, and one that writes it twice and says no place"""
    engine = traced(
        [
            call(0.0, 0),
            call(0.2, 0, tid=2),
            call(0.3, 64 * KIB, tid=2),
            call(1.0, 0, op=WRITE),
            call(1.1, 0, op=WRITE),
            call(1.2, 0, offset=None),
            call(1.3, 0, offset=None),
        ]
    )
    found = engine.records(file_loads(START, SECOND), FileLoad)
    assert [(one.bin, one.direction, one.again, one.tid, one.bytes // KIB) for one in found] == [
        (0, "read", False, 1, 64),
        (0, "read", False, 2, 64),
        (0, "read", True, 2, 64),
        (1, "read", False, 1, 128),
        (1, "written", False, 1, 128),
    ]


def test_calls_without_a_place_are_in_sequence(traced: Traced) -> None:
    engine = traced([call(at / 4, 0, offset=None) for at in range(3)])
    found = engine.records(file_loads(START, SECOND), FileLoad)
    assert found == [FileLoad(0, "read", True, False, False, 1, 1, 3, 192 * KIB, 192 * KIB)]


def test_only_files_of_a_storage_count(traced: Traced) -> None:
    """GIVEN calls on a device, a pipe, files elsewhere, and of a layer above
    THEN they are no load; what is written is one that somebody syncs."""
    written = {"op": WRITE, "target": "/data/b"}
    events = [
        call(0, 0, target="/dev/zero"),
        call(0, 0, target="/proc/stat"),
        call(0, 0, category="pipe", target="pipe:7"),
        call(0, 0, target="/database"),
        call(0, 0),
        call(1, 0, **written),
        {**call(2, 0, **written), "layer": "fs"},
        row_of_call("posix", "sync", "/data/b", start=START + 2 * SECOND, dur=SECOND),
        row_of_sum("posix", READ, target="/data/c", category="file", bytes=1000),
        row_of_sum("posix", READ, category="file", bytes=64 * KIB),  # of the calls above
    ]
    engine = traced(events)
    assert engine.records(file_loads(START, SECOND, "/data/"), FileLoad) == [
        FileLoad(0, "read", True, False, False, 1, 1, 1, 64 * KIB, 64 * KIB),
        FileLoad(1, "written", True, True, False, 1, 1, 1, 64 * KIB, 64 * KIB),
    ]
    assert engine.records(file_bytes("/data"), FileBytes) == [FileBytes(65 * KIB - 24, 64 * KIB)]
    assert engine.records(file_bytes("/data/a"), FileBytes) == [FileBytes(64 * KIB, 0)]
    [every] = engine.records(file_bytes(), FileBytes)
    assert every.read == 2 * 64 * KIB + 1000
    assert engine.records(in_io(START, 2 * SECOND, "/data"), InIo) == [
        InIo(0, SECOND // 5),
        InIo(1, SECOND),
    ]


def test_threads_at_once_are_in_io_once(traced: Traced) -> None:
    engine = traced([call(0.95, 0), call(1.0, 0, tid=2), call(3.0, 0, proc=2)])
    assert engine.records(in_io(START, SECOND), InIo) == [
        InIo(0, SECOND // 20),
        InIo(1, SECOND // 10),
        InIo(3, SECOND // 10),
    ]


def test_nothing_is_no_load(traced: Traced) -> None:
    engine = traced([])
    assert engine.records(file_loads(START, SECOND), FileLoad) == []
    assert engine.records(in_io(START, SECOND), InIo) == []
    assert engine.records(file_bytes(), FileBytes) == [FileBytes(0, 0)]
