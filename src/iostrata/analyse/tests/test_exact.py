from __future__ import annotations

import random

from iostrata.analyse.exact import part, quotient
from iostrata.analyse.tables import CALLS
from iostrata.analyse.tests.conftest import Traced
from iostrata.records import Record
from iostrata.store.tests.made import row_of_call


class Division(Record, frozen=True):
    bytes: int
    offset: int
    asked: int
    part: int
    quotient: int


def test_divisions_are_those_of_integers(traced: Traced) -> None:
    # GIVEN numbers of all magnitudes, and those at which a double is off by one
    drawn = random.Random(3)
    numbers = [(2**50, 2**49 - 1, 2**49), (7, 0, 1), (0, 3, 5), (10**15, 333, 999)]
    for _ in range(400):
        whole = drawn.randint(1, 2 ** drawn.randint(1, 50))
        numbers.append(
            (drawn.randint(0, 2 ** drawn.randint(1, 50)), drawn.randint(0, whole), whole)
        )
    events = [
        row_of_call("java", "read", "/a", bytes=value, offset=of, asked=whole)
        for value, of, whole in numbers
    ]
    rows = CALLS.select(
        "bytes",
        "offset",
        "asked",
        part=part(CALLS.bytes, CALLS.offset, CALLS.asked),
        quotient=quotient(CALLS.bytes, CALLS.asked),
    )
    # THEN engines say what Python does
    for row in traced(events).records(rows, Division):
        value, of, whole = row.bytes, row.offset, row.asked
        assert (row.part, row.quotient) == (value * of // whole, value // whole), row
