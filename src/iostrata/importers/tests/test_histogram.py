from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from iostrata.importers.histogram import UPPER, SizeCount, split

SIZES = st.lists(st.integers(0, 1 << 34), min_size=1, max_size=50)


def histogram(sizes: list[int]) -> list[int]:
    counts = [0] * 10
    for size in sizes:
        counts[next((i for i, most in enumerate(UPPER) if size <= most), 9)] += 1
    return counts


@given(SIZES)
def test_all_adds_up_and_stays_within_its_class(sizes: list[int]) -> None:
    found = split(histogram(sizes), len(sizes), sum(sizes), {})
    assert sum(part.count for part in found) == len(sizes)
    assert sum(part.bytes for part in found) == sum(sizes)
    if sum(sizes):
        assert [part.count for part in found] == [n for n in histogram(sizes) if n]
        assert all(part.size_class is not None for part in found)


@given(st.integers(1, 1 << 34), st.integers(1, 1000))
def test_requests_of_one_size_have_its_class(size: int, count: int) -> None:
    assert split(histogram([size] * count), count, size * count, {}) == [
        SizeCount(count, size * count, size.bit_length())
    ]


def test_common_sizes_are_taken_where_a_class_has_them() -> None:
    sizes = [50] * 4 + [512] * 20 + [262144] * 16
    assert split(histogram(sizes), 40, sum(sizes), {512: 20, 262144: 16, 50: 4}) == [
        SizeCount(4, 200, 6),
        SizeCount(20, 10240, 10),
        SizeCount(16, 4194304, 19),
    ]


def test_what_does_not_fit_together_says_nothing_of_sizes() -> None:
    assert split([1] + [0] * 9, 3, 30, {}) == [SizeCount(3, 30, None)]
    assert split([3] + [0] * 9, 3, 10**9, {}) == [SizeCount(3, 10**9, None)]
    assert split([0] * 10, 0, 0, {}) == []
