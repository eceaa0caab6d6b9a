"""Lanes: whatever calls a thread has, on each lane they nest, and none is lost."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from iostrata.show.export.nesting import nested
from iostrata.show.export.source import Call

_NOTHING = Call._make(
    [
        *("node", 1, "client", 1, 1, "main", 0, 0, "java", "read"),
        *[None] * 8,
        *(0, None, 1, 1, None, None, None, False, True, False, None, None),
    ]
)


def made(*times: tuple[int, int]) -> list[Call]:
    """Calls of one thread in the order of a source."""
    ordered = sorted(times, key=lambda time: (time[0], -time[1]))
    return [
        _NOTHING._replace(start=start, dur=dur, span=span)
        for span, (start, dur) in enumerate(ordered, 1)
    ]


def drawn(*times: tuple[int, int]) -> list[str]:
    """`LANE AT (SPAN` for a begin, `)` for an end."""
    return [
        f"{step.lane} {step.at} {'(' if step.opens else ')'}{step.call.span}"
        for step in nested(made(*times))
    ]


def test_calls_within_calls_are_one_lane() -> None:
    assert drawn((0, 10), (0, 4), (4, 6), (10, 1)) == [
        *("0 0 (1", "0 0 (2", "0 4 )2", "0 4 (3", "0 10 )3", "0 10 )1"),
        *("0 10 (4", "0 11 )4"),
    ]


def test_calls_that_overlap_go_side_by_side() -> None:
    assert drawn((0, 10), (5, 10), (12, 5)) == [
        *("0 0 (1", "1 5 (2", "0 10 )1", "0 12 (3", "0 17 )3", "1 15 )2"),
    ]


def test_calls_without_length_are_none_of_each_other() -> None:
    assert drawn((5, 0), (5, 0)) == ["0 5 (1", "0 5 )1", "0 5 (2", "0 5 )2"]


TIMES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=30)


@given(TIMES)
def test_each_lane_is_a_sequence_of_whole_trees(times: list[tuple[int, int]]) -> None:
    lanes: dict[int, list[int]] = {}
    last: Counter[int] = Counter()
    begun: Counter[int] = Counter()
    for step in nested(made(*times)):
        above = lanes.setdefault(step.lane, [])
        assert step.at >= last[step.lane]
        last[step.lane] = step.at
        if step.opens:
            begun[step.call.span] += 1
            above.append(step.call.span)
        else:
            assert above.pop() == step.call.span
    assert not any(lanes.values())
    assert begun == Counter(range(1, len(times) + 1))
