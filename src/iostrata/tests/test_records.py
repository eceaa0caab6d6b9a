"""Rows become records of a type, and say what does not fit."""

from __future__ import annotations

import pytest

from iostrata.errors import InternalError
from iostrata.records import Bytes, Ns, Record, builtins, records


class Read(Record, frozen=True):
    target: str
    bytes: Bytes
    dur: Ns | None


def test_rows_become_records_and_json_values() -> None:
    row = {"target": "/a", "bytes": 4096, "dur": None}
    found = records([row], Read)
    assert found == [Read(target="/a", bytes=4096, dur=None)]
    assert builtins(found) == [row]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"target": "/a", "bytes": "many", "dur": 1}, "Expected `int`, got `str`"),
        ({"target": "/a", "bytes": 1, "dur": 1, "offset": 0}, "unknown field `offset`"),
        ({"target": "/a", "bytes": 1}, "missing required field `dur`"),
    ],
)
def test_what_does_not_fit_is_a_fault_of_ours(row: dict[str, object], why: str) -> None:
    with pytest.raises(InternalError, match=f"rows are no Read: .*{why}"):
        records([row], Read)
