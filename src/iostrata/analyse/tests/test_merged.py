from __future__ import annotations

from typing import Any

from iostrata.analyse.merged import TOGETHER, MergedRequest, MergedSize, merged, runs, unmerged
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call

MS = 10**6


def read(at: int, offset: int, size: int = 4096, **more: Any) -> dict[str, Any]:
    """A read of /a in one process that begins at a millisecond and takes one."""
    given = {"host": "node", "proc": 1, "start": at * MS, "dur": MS}
    return row_of_call("java", "read", "/a", bytes=size, offset=offset, **{**given, **more})


def test_requests_that_follow_each_other_in_place_and_time_are_one(traced: Traced) -> None:
    calls = [
        read(0, 0),
        read(5, 4096),
        read(10, 8192, 100),
        read(15, 8292, dur=3 * MS),
        read(2000, 12388),  # more than a second later
        read(2005, 0),  # elsewhere
        read(6, 4096, proc=2),  # of another process
        read(7, 8192) | {"target": "/b"},
        read(8, -1),  # a place that nobody knows
    ]
    found = traced(calls).records(runs().order_by("proc", "target", "run"), MergedRequest)
    shown = [
        (row.proc, row.target, row.offset, row.bytes, row.calls, row.end // MS) for row in found
    ]
    assert shown == [
        (1, "/a", 0, 4096 + 4096 + 100 + 4096, 4, 18),
        (1, "/a", 12388, 4096, 1, 2001),
        (1, "/a", 0, 4096, 1, 2006),
        (1, "/b", 8192, 4096, 1, 8),
        (2, "/a", 4096, 4096, 1, 7),
    ]


def test_a_read_is_not_merged_with_a_write(traced: Traced) -> None:
    calls = [read(0, 0), read(1, 4096) | {"op": "write"}, read(2, 4096)]
    engine = traced(calls)
    found = engine.records(merged(), MergedSize)
    assert [(row.direction, row.runs, row.calls, row.bytes) for row in found] == [
        ("read", 1, 2, 8192),
        ("written", 1, 1, 4096),
    ]
    were = engine.records(unmerged(), MergedSize)
    assert [(row.direction, row.runs, row.calls, row.bytes) for row in were] == [
        ("read", 2, 2, 8192),
        ("written", 1, 1, 4096),
    ]


def test_how_long_between_two_requests_is_for_the_caller_to_say(traced: Traced) -> None:
    apart = 10 * MS
    engine = traced([read(0, 0), read(11, 4096), read(23, 8192)])  # 10 and 11 ms between them
    split = engine.records(runs(apart).order_by("run"), MergedRequest)
    assert [row.calls for row in split] == [2, 1]
    assert [row.calls for row in engine.records(runs(TOGETHER), MergedRequest)] == [3]
