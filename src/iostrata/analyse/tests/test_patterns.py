from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from iostrata.analyse.patterns import FAR, FarReads, Pattern, far_reads, patterns
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call

KB = 1024


def reads(offsets: Iterable[int], size: int = KB, **more: Any) -> list[dict[str, Any]]:
    """Reads of /a in one process, a microsecond after each other."""
    given = {"host": "node", "proc": 1, "dur": 500, **more}
    return [
        row_of_call("java", "read", "/a", bytes=size, offset=offset, start=number * 1000, **given)
        for number, offset in enumerate(offsets)
    ]


def shuffled(count: int) -> list[int]:
    places = list(range(0, 3 * count * KB, 3 * KB))
    random.Random(7).shuffle(places)
    return places


SHAPES = {
    "contiguous": (range(0, 40 * KB, KB), KB),
    "fixed strided": (range(0, 400 * KB, 10 * KB), 10 * KB),
    # rows of a matrix: 8 columns of each
    "2-d strided": ([row * 100 * KB + x * 2 * KB for row in range(6) for x in range(8)], 2 * KB),
    "3-d strided": (
        [
            plane * 5000 * KB + row * 100 * KB + x * 2 * KB
            for plane in range(5)
            for row in range(4)
            for x in range(6)
        ],
        2 * KB,
    ),
    "random": (shuffled(60), None),
}


@pytest.mark.parametrize("pattern", SHAPES)
def test_a_shape_has_its_name(pattern: str, traced: Traced) -> None:
    offsets, stride = SHAPES[pattern]
    (found,) = traced(reads(offsets)).records(patterns(), Pattern)
    assert found.pattern == pattern
    assert found.requests == len(offsets)
    assert (found.size, found.again) == (KB, 0)
    if stride is not None:
        assert found.stride == stride


def test_one_in_twenty_may_be_another(traced: Traced) -> None:
    places = [*range(0, 50 * KB, KB), 900 * KB, *range(50 * KB, 80 * KB, KB)]
    (found,) = traced(reads(places)).records(patterns(), Pattern)
    assert found.pattern == "contiguous"


def test_requests_of_all_sizes_may_follow_each_other(traced: Traced) -> None:
    offset, calls = 0, []
    for number in range(30):
        (call,) = reads([offset], size=100 + number)
        calls.append(call | {"start": number * 1000})
        offset += 100 + number
    (found,) = traced(calls).records(patterns(), Pattern)
    assert (found.pattern, found.bytes) == ("contiguous", offset)


def test_backwards_is_a_stride(traced: Traced) -> None:
    (found,) = traced(reads(range(40 * KB, 0, -KB))).records(patterns(), Pattern)
    assert (found.pattern, found.stride) == ("fixed strided", -KB)


def test_what_is_read_again_is_said(traced: Traced) -> None:
    (found,) = traced(reads([*range(0, 40 * KB, KB)] * 2)).records(patterns(), Pattern)
    assert (found.pattern, found.again) == ("contiguous", 40)


def test_each_stream_has_its_own_and_few_requests_have_none(traced: Traced) -> None:
    calls = [
        *reads(range(0, 20 * KB, KB)),
        *reads(range(0, 80 * KB, 4 * KB), proc=2),
        *reads(range(0, 5 * KB, KB), proc=3),
        *reads(range(0, 20 * KB, KB), proc=4, block=7, size=2 * KB),
    ]
    found = traced(calls).records(patterns(), Pattern)
    assert [(row.proc, row.block, row.pattern) for row in found] == [
        (4, 7, "fixed strided"),
        (1, 0, "contiguous"),
        (2, 0, "fixed strided"),
    ]


def test_a_read_is_far_if_readahead_does_not_bring_it(traced: Traced) -> None:
    """GIVEN a thread that skips, once further than readahead goes, and one that goes back, after
    each other; and one of a server.
    """
    calls = [
        *reads([0, KB, KB + FAR, 2 * KB + FAR, 4 * KB + 2 * FAR], tid=1, role="map", dur=900),
        *reads([3 * FAR, 0], tid=2, role="map", dur=900),
        *reads([9 * FAR, 0], tid=3, role="DataNode"),
    ]
    (found,) = traced(calls).records(far_reads(("map",), ("file",)), FarReads)
    assert (found.reads, found.reach) == (7, 3 * FAR + KB)
    assert (found.far, found.back) == (2, 1)
    # there is no room for another read between two of them
    assert (found.direct, found.direct_far, found.direct_back) == (5, 2, 1)


def test_where_another_read_may_be_missing_nobody_knows_how_far_the_next_one_is(
    traced: Traced,
) -> None:
    (found,) = traced(reads([3 * FAR, 0], dur=400)).records(far_reads(), FarReads)
    assert (found.far, found.direct, found.direct_far) == (1, 0, 0)
