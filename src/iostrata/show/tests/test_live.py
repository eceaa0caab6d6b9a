"""Looks at a made run while its parts are published: each row is counted once, none is missed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.buckets import lower, upper
from iostrata.analyse.live import SECOND, LiveTotals, live_view
from iostrata.analyse.summary import summary
from iostrata.analyse.watch import Watch
from iostrata.processes import start_ticks
from iostrata.records import builtins
from iostrata.schema.events import COLUMNS, FLAG
from iostrata.show.live import head, live_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import START, make_run, row_of_call, row_of_sum, write
from iostrata.store.writing import write_facts

INNER, COVERED = FLAG["inner"], FLAG["double_counted"]


def at(second: float) -> int:
    return START + round(second * SECOND)


class Recording:
    """A run of this process that is being recorded on one host."""

    def __init__(self, store: Path) -> None:
        self.path = make_run(store, "r", **self._facts("recording"))

    @staticmethod
    def _facts(state: str) -> dict[str, Any]:
        own = {"recorder_pid": os.getpid(), "recorder_start": start_ticks(os.getpid())}
        return {"state": state, **own}

    def publish(self, number: int, rows: list[dict[str, Any]]) -> None:
        rows = [{"host": "node", **row} for row in rows]
        write(self.path / f"events/host=node/part-{number:06d}.parquet", rows, COLUMNS)

    def tell(
        self,
        second: float,
        part: int,
        cells: Sequence[Any] = (),
        times: Sequence[Any] = (),
        opened: Sequence[Any] = (),
    ) -> None:
        names = ("layer", "op", "job", "flags", "count", "bytes")
        told = {
            "at": at(second),
            "part": part,
            "cells": [dict(zip(names, cell, strict=True)) for cell in cells],
            "times": [
                {"layer": layer, "job": job, "calls": 1, "dur": dur, "buckets": [[place, 1]]}
                for layer, job, place, dur in times
            ],
            "open": list(opened),
            "more_open": 0,
        }
        (self.path / "live-node.json").write_text(json.dumps(told))

    def end(self) -> None:
        (self.path / "live-node.json").unlink()
        write_facts(self.path, {**self._facts("ok"), "run": "r", "exit": 0})


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path)


def watch(recording: Recording) -> Watch:
    return Watch(find_run(recording.path.parent, "r"))


ROWS = [
    row_of_sum("java", "read", count=3, bytes=300, job="j"),
    row_of_sum("java", "read", count=2, bytes=50, flags=INNER, job="j"),
    row_of_sum("java", "write", count=1, bytes=70, flags=COVERED),
    row_of_sum("hdfs", "send_packet", count=4, bytes=4000),
    row_of_call("java", "read", "/a", dur=1000, job="j"),
]
# The same as the collector tells it of a part that is not published.
CELLS = [
    ("java", "read", "j", 0, 3, 300),
    ("java", "read", "j", INNER, 2, 50),
    ("java", "write", "", COVERED, 1, 70),
    ("hdfs", "send_packet", "", 0, 4, 4000),
]
TIMES = [("java", "j", 190, 1000)]


def test_what_is_told_and_what_is_published_is_the_same(recording: Recording) -> None:
    watching = watch(recording)
    recording.tell(1, part=1, cells=CELLS, times=TIMES)
    before = watching.snapshot()
    # WHEN the part is published, before the collector says so and after
    recording.publish(1, ROWS)
    during = watching.snapshot()
    recording.tell(2, part=2)
    after = watching.snapshot()
    # THEN nothing has happened meanwhile
    assert before.tally.numbers == during.tally.numbers == after.tally.numbers
    assert before.tally.buckets == after.tally.buckets
    assert live_view(before, after).rates == []
    # AND the numbers are those of the summary
    recording.end()
    with OpenedRun(find_run(recording.path.parent, "r")) as opened:
        layers = summary(opened).layers
    shown = live_view(after, watching.snapshot()).totals
    assert builtins(shown) == [
        {name: getattr(row, name) for name in LiveTotals.__struct_fields__} for row in layers
    ]
    assert {row.layer: (row.calls, row.bytes_read) for row in shown} == {
        "hdfs": (4, 0),
        "java": (4, 350),
    }


def test_rates_are_of_the_time_between_two_looks(recording: Recording) -> None:
    watching = watch(recording)
    recording.publish(1, ROWS)
    recording.tell(10, part=2, cells=[("java", "read", "j", 0, 10, 1000)])
    before = watching.snapshot()
    recording.publish(2, [row_of_sum("java", "read", count=10, bytes=1000, job="j"),
                          row_of_call("java", "read", "/a", dur=5000, job="j")])  # fmt: skip
    recording.tell(12, part=3, cells=[("java", "read", "j", 0, 6, 500)], times=TIMES)
    found = live_view(before, watching.snapshot(), clock=at(12.5))
    (rate,) = found.rates
    assert (rate.host, rate.layer, rate.job) == ("node", "java", "j")
    assert (rate.calls, rate.bytes_read, rate.recorded) == (3, 250, 2)
    assert rate.mean == 3000
    assert lower(190) <= (rate.p50 or 0) < upper(190)  # 1000 ns
    assert 4992 <= (rate.p99 or 0) < 5120  # the bucket of 5000
    assert (found.age, found.window) == (SECOND // 2, 2 * SECOND)
    assert head(found) == "run r · recording · as of 0.5 s ago · over 2.0 s"


def test_a_part_is_read_once(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    watching = watch(recording)
    recording.publish(1, ROWS)
    recording.tell(1, part=2)
    first = watching.snapshot()
    monkeypatch.setattr("iostrata.analyse.watch.OpenedRun", None)  # would fail if called
    assert watching.snapshot().tally == first.tally


def test_open_calls_are_shown_with_their_age(recording: Recording) -> None:
    call: dict[str, Any] = {
        "layer": "java",
        "op": "read",
        "target": "/a\x1b[2J",
        "job": None,
        "task": "m_0",
    }
    call |= {"role": "map", "pid": 7, "thread": "main", "since": at(1)}
    recording.tell(4, part=1, opened=[{**call, "since": at(3)}, call])
    lines = live_lines(live_view(None, watch(recording).snapshot(), clock=at(5)))
    assert lines == [
        "run r · recording · as of 1.0 s ago",
        "",
        "open for  call       target     process        thread  task",
        r"  4.00 s  java.read  /a\x1b[2J  map 7 on node  main    m_0",
        r"  2.00 s  java.read  /a\x1b[2J  map 7 on node  main    m_0",
    ]


def test_a_run_that_has_ended_says_so(recording: Recording) -> None:
    recording.publish(1, ROWS)
    recording.tell(1, part=2)
    recording.end()
    ended = watch(recording).snapshot()
    assert ended.ended
    assert live_lines(live_view(None, ended))[0] == "run r has ended: ok, exit 0"


@pytest.mark.parametrize("text", ["", '{"at": 1', "[]", "null", '{"at": 1}'])
def test_a_file_that_is_not_whole_or_not_ours_is_none(recording: Recording, text: str) -> None:
    (recording.path / "live-node.json").write_text(text)
    assert watch(recording).snapshot().until == {}
