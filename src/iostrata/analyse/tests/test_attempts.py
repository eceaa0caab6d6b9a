from __future__ import annotations

from typing import Any

from iostrata.analyse.attempts import attempts, stragglers
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import process, row_of_sum

S = 10**9


def attempt(task: str, role: str, start: int, end: int | None) -> dict[str, Any]:
    until = None if end is None else end * S
    ran = {"host": "node", "start": start * S, "end": until}
    return process(role, 7, job="job_1", task=task, **ran)


def work(task: str, op: str, **more: Any) -> dict[str, Any]:
    return row_of_sum("task", op, task=task, job="job_1", **more)


def test_each_attempt_with_what_it_spilled_and_fetched(traced: Traced) -> None:
    engine = traced(
        [
            work("m_0", "spill", count=3),
            work("m_0", "merge"),
            work("r_0", "copy", count=2, bytes=500),
            work("r_0", "fetch", count=2, bytes=500),  # the same bytes, a step above
        ],
        processes=[
            process("NameNode", 1),
            attempt("r_0", "reduce", 5, 9),
            attempt("r_1", "reduce", 3, 9),  # which waited a second for the maps
            attempt("m_0", "map", 1, 4),
            attempt("m_1", "map", 2, None),
        ],
    )
    names = ("task", "role", "dur", "worked", "spills", "merges", "fetches", "fetched")
    assert [tuple(row[name] for name in names) for row in engine.rows(attempts())] == [
        ("m_0", "map", 3 * S, 3 * S, 3, 1, 0, 0),
        ("m_1", "map", None, None, 0, 0, 0, 0),
        ("r_1", "reduce", 6 * S, 5 * S, 0, 0, 0, 0),
        ("r_0", "reduce", 4 * S, 4 * S, 0, 0, 2, 500),
    ]


def test_stragglers_are_seen_beside_the_median(traced: Traced) -> None:
    ends = {"m_0": 3, "m_1": 4, "m_2": 5, "m_3": 30}
    engine = traced(
        [
            work("r_0", "copy", bytes=10),
            work("r_1", "copy", bytes=90),
            work("r_2", "copy", bytes=9),
        ],
        processes=[
            *(attempt(task, "map", 1, end) for task, end in ends.items()),
            *(attempt(f"r_{n}", "reduce", 5 + n, 34) for n in range(3)),
            attempt("m_4", "map", 1, None),  # it runs on: nobody knows how long
        ],
    )
    assert engine.rows(stragglers()) == [
        {
            "job": "job_1",
            "role": "map",
            "attempts": 4,
            "median": 3 * S,
            "longest": 29 * S,
            "slowest": "m_3",
            "median_fetched": 0,
            "most_fetched": 0,
        },
        {
            "job": "job_1",
            "role": "reduce",
            "attempts": 3,
            "median": 4 * S,
            "longest": 4 * S,
            "slowest": "r_2",
            "median_fetched": 10,
            "most_fetched": 90,
        },
    ]
