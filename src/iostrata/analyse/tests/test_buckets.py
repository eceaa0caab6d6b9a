from __future__ import annotations

from bisect import bisect_right

import ibis
from hypothesis import given
from hypothesis import strategies as st

from iostrata.analyse.buckets import bucket, lower, quantile, upper
from iostrata.analyse.tables import CALLS
from iostrata.analyse.tests.conftest import Traced
from iostrata.records import Record
from iostrata.store.tests.made import row_of_call

LOWER = [lower(number) for number in range(1888)]
EDGES = sorted({2**n + d for n in range(63) for d in (-1, 0, 1)} | {2**62 + 2**61, 2**63 - 1})


class Numbered(Record, frozen=True):
    bytes: int
    number: int


def test_each_value_is_in_its_bucket(traced: Traced) -> None:
    events = [row_of_call("java", "read", "/a", bytes=value) for value in (-5, *EDGES)]
    numbered = CALLS.select("bytes", number=bucket(CALLS.bytes))
    found = traced(events).records(numbered, Numbered)
    assert {row.number for row in found if row.bytes < 0} == {0}
    for row in found:
        if row.bytes >= 0:
            assert lower(row.number) <= row.bytes < upper(row.number), row


def test_no_bucket_is_wider_than_a_32nd_of_what_it_holds() -> None:
    assert [lower(number) for number in range(66)] == [*range(64), 64, 66]
    assert [lower(number) for number in (95, 96, 97)] == [126, 128, 132]
    for number in range(32, 1888):
        assert upper(number) - lower(number) <= max(1, lower(number) // 32)


@given(st.lists(st.integers(0, 2**40), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_two_percent_off_at_the_most(values: list[int], share: float) -> None:
    counts: dict[int, int] = {}
    for value in values:
        number = bisect_right(LOWER, value) - 1
        counts[number] = counts.get(number, 0) + 1
    true = next(v for n, v in enumerate(sorted(values), 1) if n >= share * len(values))
    found = quantile(counts, share)
    assert found is not None
    assert abs(found - true) <= true / 50


def test_nothing_has_no_quantile() -> None:
    assert quantile({}, 0.5) is None


def test_it_is_one_expression_without_a_function_of_an_engine() -> None:
    sql = str(ibis.to_sql(CALLS.select(number=bucket(CALLS.bytes)), dialect="duckdb"))
    assert "LOG" not in sql.upper()
