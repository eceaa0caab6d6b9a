from __future__ import annotations

from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.totals import OperationTotal, by_host, by_operation
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
