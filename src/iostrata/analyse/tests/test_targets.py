from __future__ import annotations

from iostrata.analyse.only_summed import without_target
from iostrata.analyse.targets import (
    ReadToEnd,
    RequestedTarget,
    WrittenTogether,
    read_to_end,
    requested,
    small_files,
    targets,
    targets_alike,
    written_together,
)
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_call, row_of_sum

INNER = FLAG["inner"]


def test_the_longest_target_comes_first(traced: Traced) -> None:
    engine = traced(
        [
            row_of_call("java", "read", "/a", bytes=10, dur=5),
            row_of_call("java", "write", "/a", bytes=7, dur=5),
            row_of_call("java", "read", "/a", bytes=3, dur=99, flags=INNER),  # its time is counted
            row_of_call("datanode", "send_packet", "BP-1", block=7, bytes=100, dur=50),
            row_of_call("datanode", "send_packet", "BP-1", block=8, bytes=100, dur=40),
            row_of_call("java", "read", "", bytes=10, dur=1000),  # of nobody knows what
        ]
    )
    names = ("target", "block", "calls", "time", *BYTES_COLUMN.values())
    assert [tuple(row[name] for name in names) for row in engine.records(targets(), dict)] == [
        ("BP-1", 7, 1, 50, 0, 0, 0, 100),
        ("BP-1", 8, 1, 40, 0, 0, 0, 100),
        ("/a", None, 2, 10, 13, 7, 0, 0),
    ]


def test_targets_that_differ_in_long_numbers_are_of_a_kind(traced: Traced) -> None:
    engine = traced(
        [
            row_of_call("java", "read", "/data-1/job_1790_0001/part-00001", bytes=10, dur=5),
            row_of_call("java", "read", "/data-1/job_1790_0002/part-00007", bytes=20, dur=6),
            row_of_call("java", "write", "/data-2/job_1790_0002/part-00007", bytes=40, dur=7),
            row_of_call("datanode", "send_packet", "BP-1", block=1073741825, bytes=100, dur=3),
        ]
    )
    names = ("target", "calls", "time", "bytes_read", "bytes_written")
    assert [
        tuple(row[name] for name in names) for row in engine.records(targets_alike(2), dict)
    ] == [
        ("/data-1/job_#_#/part-#", 2, 11, 30, 0),
        ("/data-2/job_#_#/part-#", 1, 7, 0, 40),
    ]


def test_reads_that_found_no_more_bytes_are_ends(traced: Traced) -> None:
    # GIVEN a process that read a file to its end three times, and wrote to it; another one that
    # failed; and a file of which no end was met
    read = {"target": "/a", "category": "file", "proc": 1}
    engine = traced(
        [
            row_of_call("java", "read", "/a", proc=1, bytes=100, dur=7),
            row_of_call("java", "read", "/a", proc=1, dur=1),
            row_of_sum("java", "read", **read, count=4, timed_dur=40, bytes=300, size_class=7),
            row_of_sum("java", "read", **read, count=3, timed_dur=6, errors=1, size_class=0),
            row_of_call("java", "write", "/a", proc=1, bytes=50, dur=9),
            row_of_call("java", "read", "/a", proc=2, dur=2, error="java.io.IOException"),
            row_of_sum("java", "read", **{**read, "target": "/b"}, timed_dur=1, bytes=9,
                       size_class=4),
        ]
    )  # fmt: skip
    assert engine.records(read_to_end(("file",)), ReadToEnd) == [
        ReadToEnd(1, "java", "/a", 0, 9, 400, 54, 3, 50),
        ReadToEnd(2, "java", "/a", 0, 1, 0, 2, 0, 0),
        ReadToEnd(1, "java", "/b", 0, 1, 9, 1, 0, 0),
    ]


def test_what_sums_know_of_a_target_is_added_to_its_calls(traced: Traced) -> None:
    # GIVEN a file read once with detail, and 30 times in two sums, of which 10 calls were timed;
    # and reads of which nobody knows what they were on
    engine = traced(
        [
            row_of_call("java", "read", "/a", bytes=10, dur=5000),
            row_of_sum("java", "read", category="file", count=1, bytes=10, timed_dur=5000),
            row_of_sum("java", "read", target="/a", category="file", count=20, bytes=200, timed=10,
                       weight=10, timed_dur=30_000),
            row_of_sum("java", "read", target="/a", category="file", count=10, bytes=99, timed=0,
                       timed_dur=0, tid=2),
            row_of_sum("java", "read", target="/a", category="file", count=7, bytes=70, timed_dur=7,
                       flags=INNER),
            row_of_sum("java", "read", category="file", count=3, bytes=30),
        ]
    )  # fmt: skip
    # THEN time is scaled up from what was timed, and nested calls are in the bytes only
    names = ("target", "calls", "time", "bytes_read")
    assert [tuple(row[name] for name in names) for row in engine.records(targets(), dict)] == [
        ("/a", 31, 5000 + 90_000, 379)
    ]
    assert engine.records(without_target(), dict) == [
        {"layer": "java", "category": "file", "calls": 3, "bytes": 30}
    ]


def test_sums_of_an_imported_run_are_all_there_is(traced: Traced) -> None:
    # GIVEN a layer whose sums have targets, with some of its calls, and one whose sums have none
    engine = traced(
        [
            row_of_sum("posix", "read", point=None, target="/a", count=4, bytes=40),
            row_of_call("posix", "read", "/a", bytes=10),
            row_of_sum("fs", "write", count=2, bytes=20),
            row_of_call("fs", "write", "/b", bytes=20),
        ]
    )
    # THEN no call is counted twice, and none is missing
    names = ("layer", "target", "calls", "time", "bytes_read", "bytes_written")
    assert [tuple(row[name] for name in names) for row in engine.records(targets(), dict)] == [
        ("posix", "/a", 4, 4000, 40, 0),
        ("fs", "/b", 1, 1000, 0, 20),
    ]


def test_small_files_are_counted_by_file_system(traced: Traced) -> None:
    engine = traced(
        [
            *(
                row_of_call("hdfs", "read", f"/in/{n}", bytes=900, category="input")
                for n in range(5)
            ),
            row_of_call("hdfs", "read", "/in/0", bytes=100, category="input"),
            row_of_call("hdfs", "read", "/in/large", bytes=5000, category="input"),
            row_of_call("hdfs", "stat", "/in/never-read", category="input"),
            row_of_call("java", "read", "/tmp/blk", bytes=10, category="blk"),
        ]
    )
    assert engine.records(small_files(below=1001), dict) == [
        {
            "layer": "hdfs",
            "category": "input",
            "files": 5,
            "bytes": 4 * 900 + 1000,
            "calls": 6,
            "time": 6000,
        }
    ]


def test_files_that_several_processes_wrote(traced: Traced) -> None:
    """GIVEN files of two processes, of one, and one of all ranks together, as Darshan has it."""
    engine = traced(
        [
            *(row_of_call("fs", "write", "/two", bytes=10, dur=5, proc=n) for n in (1, 2)),
            *(row_of_call("fs", "write", "/one", bytes=10, dur=99, proc=1) for _ in range(2)),
            row_of_call("fs", "read", "/one", bytes=10, dur=99, proc=2),
            row_of_sum("posix", "write", target="/all", category="file", point=None, count=7,
                       bytes=700, timed_dur=70),
        ]
    )  # fmt: skip
    assert engine.records(written_together(("file",)), WrittenTogether) == [
        WrittenTogether("posix", "/all", 0, 7, 700, 70),
        WrittenTogether("fs", "/two", 2, 2, 20, 10),
    ]


def test_all_calls_of_an_operation_on_a_target(traced: Traced) -> None:
    engine = traced(
        [
            row_of_call("fs", "read", "/a", bytes=10, dur=5),
            row_of_call("fs", "open", "/a", dur=99),
            row_of_sum("fs", "read", target="/a", category="file", count=7, bytes=700, timed_dur=70,
                       timed=7),
            row_of_call("fs", "read", "/a.jar", bytes=10, dur=5, category="jars"),
        ]
    )  # fmt: skip
    assert engine.records(requested(("read",), ("file",)), RequestedTarget) == [
        RequestedTarget("fs", "/a", 0, 8, 710, 75)
    ]
