from __future__ import annotations

from typing import Any

from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.waiting import LongPipeRead, PipeReads, long_pipe_reads, pipe_reads
from iostrata.store.tests.made import row_of_call, row_of_sum

MS = 10**6


def test_reads_of_pipes_by_role_and_host(traced: Traced) -> None:
    pipe = {"category": "pipe", "bytes": 10}
    sums = [
        row_of_sum("java", "read", role="executor", host="n", count=2, **pipe),
        row_of_sum("java", "read", role="executor", host="n", point=2, **pipe),
        row_of_sum("java", "read", **pipe),  # of whom nobody knows
        row_of_sum("java", "write", role="executor", host="n", **pipe),
        row_of_sum("java", "read", role="executor", host="n", category="file"),
    ]
    found = traced(sums).records(pipe_reads().order_by("role"), PipeReads)
    shown = [(row.role, row.host, row.calls, row.time, row.bytes) for row in found]
    assert shown == [("", "", 1, 1000, 10), ("executor", "n", 3, 3000, 20)]


def test_a_long_read_of_a_pipe_takes_a_millisecond(traced: Traced) -> None:
    def read(span: int, dur: int, **more: Any) -> dict[str, Any]:
        given = {"category": "pipe", "proc": 7, "span": span, "dur": dur}
        return row_of_call("java", "read", "pipe:[1]", **{**given, **more})

    calls = [read(1, MS), read(2, MS - 1), read(3, 2 * MS), read(4, MS, category="socket")]
    calls += [read(5, MS) | {"op": "write"}, read(6, MS, proc=None)]
    found = traced(calls).records(long_pipe_reads().order_by("span"), LongPipeRead)
    assert found == [LongPipeRead(7, 1), LongPipeRead(7, 3)]
