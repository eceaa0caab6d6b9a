from __future__ import annotations

from iostrata.analyse.operations import OperationCalls, operations
from iostrata.analyse.tests.conftest import Traced
from iostrata.schema.events import FLAG
from iostrata.store.tests.made import row_of_sum

INNER = FLAG["inner"]


def test_nested_calls_count_apart(traced: Traced) -> None:
    engine = traced(
        [
            row_of_sum("java", "read", count=5, errors=1),
            row_of_sum("java", "read", count=3, flags=INNER, errors=1),
        ]
    )
    assert engine.records(operations(), OperationCalls) == [
        OperationCalls(layer="java", op="read", calls=5, nested=3, errors=1)
    ]
