from __future__ import annotations

from operator import attrgetter
from typing import Any

from iostrata.analyse.phases import Phase, phases
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import process, row_of_call, row_of_sum


def in_phase(phase: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"task": "r_0", "job": "j", "proc": 5, "phase": phase} | {
        "start": start,
        "dur": end - start,
        **more,
    }


def call(phase: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    return row_of_call("fs", "read", "/a", **in_phase(phase, start, end, **more))


def test_each_phase_from_its_first_call_to_its_last(traced: Traced) -> None:
    engine = traced(
        [
            row_of_sum("fs", "read", **in_phase("shuffle", 0, 20)),  # looked at since 0
            call("shuffle", 12, 15),
            call("shuffle", 14, 30),
            call("shuffle", 14, 20, flags=FLAG["inner"]),  # its time is counted
            row_of_sum("fs", "write", **in_phase("reduce", 25, 40)),
            row_of_sum("fs", "write", **in_phase("reduce", 40, 60)),
            call("reduce", 5, 99, proc=6),  # a DataNode, for it
            call("", 70, 80),
        ],
        processes=[
            process("reduce", 1, proc=5, job="j", task="r_0"),
            process("DataNode", 2, proc=6),
        ],
    )
    found = engine.records(phases(), Phase)
    names = ("job", "task", "phase", "start", "end", "time")
    assert list(map(attrgetter(*names), found)) == [
        ("j", "r_0", "shuffle", 12, 30, 3 + 16),
        ("j", "r_0", "reduce", 40, 60, 0),
    ]
