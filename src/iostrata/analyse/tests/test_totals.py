from __future__ import annotations

from typing import Any

from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.totals import OperationTotal, Pauses, by_host, by_operation, pauses
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_sum


def test_what_was_moved_by_host_layer_and_job(traced: Traced) -> None:
    given = {"host": "a", "job": "j"}
    engine = traced(
        [
            row_of_sum("java", "read", count=2, bytes=20, **given),
            row_of_sum("java", "read", count=3, bytes=5, flags=FLAG["inner"], **given),
            row_of_sum("java", "write", bytes=7, flags=FLAG["double_counted"], **given),
            row_of_sum("java", "write", bytes=9, host="b"),
        ]
    )
    names = ("host", "layer", "job", "calls", "bytes_read", "bytes_written", "bytes_sent")
    assert [tuple(row[name] for name in names) for row in engine.records(by_host(), dict)] == [
        ("a", "java", "j", 3, 25, 0, 0),
        ("b", "java", "", 1, 0, 9, 0),
    ]


def test_nested_calls_are_told_apart(traced: Traced) -> None:
    engine = traced(
        [
            row_of_sum("java", "read", count=5, errors=1),
            row_of_sum("java", "read", count=3, flags=FLAG["inner"], errors=1),
        ]
    )
    found = engine.records(by_operation(), OperationTotal)
    assert [(row.layer, row.op, row.nested, row.calls, row.errors) for row in found] == [
        ("java", "read", False, 5, 1),
        ("java", "read", True, 3, 1),
    ]


def test_pauses_of_each_kind(traced: Traced) -> None:
    def paused(op: str, proc: int, count: int, longest: int) -> dict[str, Any]:
        return row_of_sum("jvm", op, proc=proc, count=count, max=longest)

    rows = [paused("gc", 1, 2, 900), paused("gc", 2, 1, 1500), paused("gc", 2, 1, 10)]
    rows += [paused("safepoint", 1, 3, 5), row_of_sum("java", "read", proc=3)]
    found = traced(rows).records(pauses(), Pauses)
    assert found == [Pauses("gc", 2, 4, 4000, 1500), Pauses("safepoint", 1, 3, 3000, 5)]
