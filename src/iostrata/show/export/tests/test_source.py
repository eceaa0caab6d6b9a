"""What is chosen, and what is said to be missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.only_summed import OnlySummed
from iostrata.errors import UserError
from iostrata.schema.events import FLAG
from iostrata.show.export.selection import Selection
from iostrata.show.export.source import CallOrder, Source
from iostrata.show.export.tests.runs import TASK, call, make
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import row_of_sum


def spans(store: Path, pauses: bool = False, **chosen: Any) -> list[str]:
    """The calls chosen; the source must count them alike."""
    with OpenedRun(find_run(store, "r")) as opened:
        source = Source(opened, Selection(**chosen), pauses)
        found = [f"{made.host} {made.span}" for made in source.calls(CallOrder.threads)]
        assert source.count == len(found)
        assert sorted(found) == sorted(
            f"{made.host} {made.span}" for made in source.calls(CallOrder.time, causes=False)
        )
    return found


def only_summed(store: Path, **chosen: Any) -> list[OnlySummed]:
    with OpenedRun(find_run(store, "r")) as opened:
        return Source(opened, Selection(**chosen)).only_summed()


CHOSEN = [
    ({}, ["1 1", "1 2", "1 3", "1 5", "1 6", "1 7", "2 1", "2 2"]),
    ({"pauses": True, "layers": ("jvm",)}, ["1 9"]),
    ({"layers": ("java", "fs")}, ["1 1", "1 3", "1 5", "1 6", "1 7", "2 2"]),
    ({"task": TASK}, ["1 1", "1 2", "1 3", "1 5", "1 6", "1 7"]),
    ({"job": "job_9"}, []),
    ({"begin": 0.105}, ["1 5", "1 6", "1 7"]),
    ({"end": 0.012}, ["1 1", "1 2"]),
    ({"begin": 0.02, "end": 0.03, "layers": ("java",)}, ["1 3"]),
]


@pytest.mark.parametrize(("chosen", "expected"), CHOSEN)
def test_calls_that_are_chosen(tmp_path: Path, chosen: dict[str, Any], expected: list[str]) -> None:
    make(tmp_path)
    assert spans(tmp_path, **chosen) == [f"node{span}" for span in expected]


def test_a_span_seen_twice_is_two_calls_and_no_more(tmp_path: Path) -> None:
    rows = [call("java.read", span, 0, 1, parent=7, parent_proc=2) for span in (1, 1)]
    rows += [call("hdfs.read", 7, 0, 1, proc=2) for _ in range(3)]
    make(tmp_path, [*rows, call("java.read", 0, 0, 1), call("java.read", 0, 0, 1)])
    assert len(spans(tmp_path)) == 7


def test_what_was_only_summed_is_counted_by_layer(tmp_path: Path) -> None:
    make(tmp_path)
    # 10 of 13 reads, writes, sends and opens are in the sums; one read of 10 was kept
    assert only_summed(tmp_path) == [OnlySummed("java", calls=9, bytes=990)]
    assert only_summed(tmp_path, begin=99.0) == only_summed(tmp_path)
    assert only_summed(tmp_path, layers=("hdfs",)) == []


def test_bytes_that_an_enclosing_call_counts_are_counted_once(tmp_path: Path) -> None:
    inner = FLAG["inner"] | FLAG["double_counted"]
    sums = [row_of_sum("java", "read", count=2, bytes=8)]
    make(tmp_path, [*sums, row_of_sum("java", "read", count=2, bytes=8, flags=inner)])
    assert only_summed(tmp_path) == [OnlySummed("java", calls=4, bytes=8)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"layers": ("disk",)}, "no layer is called 'disk'"),
        ({"table": "rows"}, "no table is called 'rows'"),
        ({"begin": 2.0, "end": 1.0}, "--from 2 is not before --to 1"),
        ({"table": "sums", "begin": 1.0}, "--from does not apply to the table sums"),
    ],
)
def test_one_line_says_what_cannot_be_chosen(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Selection(**wrong)
