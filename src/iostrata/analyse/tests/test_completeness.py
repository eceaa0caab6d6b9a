from __future__ import annotations

import random
from typing import Any

from iostrata.analyse.completeness import causes, gaps, losses
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import process, row_of_call


def test_what_was_traced_and_what_was_lost(traced: Traced) -> None:
    engine = traced(
        [],
        processes=[
            process("map", 1, host="a", calls=100, detail=60, dropped=40, exit="killed"),
            process("map", 2, host="a", calls=10, detail=10, folded=3, lost=2, refused=1),
            process("map", 3, host="a", traced=False, reason="no agent", exit=None),
            process("map", 4, host="b", calls=1, detail=1),
        ],
    )
    names = ("host", "role", "processes", "traced", "killed", "calls", "detail")
    found = engine.records(losses(), dict)
    assert [tuple(row[name] for name in names) for row in found] == [
        ("a", "map", 3, 2, 1, 110, 70),
        ("b", "map", 1, 1, 0, 1, 1),
    ]
    lossy = ("dropped", "collapsed", "lost", "rejected")
    assert [tuple(row[name] for name in lossy) for row in found] == [(40, 3, 2, 1), (0, 0, 0, 0)]


def test_where_calls_are_missing(traced: Traced) -> None:
    def gap(start: int, calls: int, **more: Any) -> dict[str, Any]:
        given = {"kind": "gap", "host": "a", "role": "map", "proc": 1}
        return {**given, "start": start, "bytes": calls, **more}

    engine = traced(
        [
            gap(50, 7, dur=10),
            gap(20, 3),  # nobody knows until when
            gap(30, 100, dur=5, proc=2),
            row_of_call("java", "read", "/a", proc=1),
        ]
    )
    names = ("proc", "gaps", "calls", "first", "last")
    assert [tuple(row[name] for name in names) for row in engine.records(gaps(), dict)] == [
        (2, 1, 100, 30, 35),
        (1, 2, 10, 20, 60),
    ]


def test_causes_are_found_across_processes(traced: Traced) -> None:
    def call(proc: int, span: int, parent: int | None, of: int | None = None) -> dict[str, Any]:
        whose = {"proc": proc, "span": span, "parent": parent, "parent_proc": of}
        return row_of_call("java", "read", "/a", role="map", **whose)

    engine = traced(
        [
            call(1, 10, None),
            call(1, 11, 10),
            call(2, 11, 10, 1),  # the same number, of another process
            call(2, 12, 10),  # there is no such call in its process
            call(3, 13, 11, 9),  # nor such a process
            {"kind": "begin", "layer": "task", "op": "run", "proc": 3, "span": 5},
            {"kind": "unfinished", "layer": "task", "op": "run", "proc": 3, "span": 5},
            call(3, 14, 5),  # its cause was never done
        ]
    )
    assert engine.records(causes(), dict) == [
        {
            "layer": "java",
            "role": "map",
            "calls": 6,
            "roots": 1,
            "within": 2,
            "across": 1,
            "missing": 2,
        }
    ]


def test_every_call_has_one_kind_of_cause(traced: Traced) -> None:
    drawn = random.Random(8)
    calls = [
        row_of_call(
            drawn.choice(["java", "rpc"]),
            "read",
            "/a",
            proc=drawn.randint(1, 3),
            span=span,
            parent=drawn.choice([None, drawn.randint(0, 99)]),
            parent_proc=drawn.choice([None, 1, 2, 3]),
        )
        for span in range(80)
    ]
    found = traced(calls).records(causes(), dict)
    assert sum(row["calls"] for row in found) == 80
    for row in found:
        kinds = ("roots", "within", "across", "missing")
        assert sum(row[name] for name in kinds) == row["calls"]
