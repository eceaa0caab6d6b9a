"""Times of single calls: exact of all that was kept, estimates of a sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from iostrata.analyse.buckets import PARTS, lower
from iostrata.analyse.latencies import JobDurations, durations_by_host
from iostrata.analyse.summary import summary
from iostrata.analyse.tests.conftest import Traced
from iostrata.records import builtins
from iostrata.schema.events import FLAG
from iostrata.show.summary import summary_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum

MS = 1_000_000
PRECISION = 1 / (2 * PARTS)


def test_quantiles_are_of_calls(tmp_path: Path) -> None:
    calls = [row_of_call("java", "read", "/a", proc=1, span=n, dur=n * MS) for n in range(1, 101)]
    calls += [row_of_call("java", "open", "/a", proc=1, span=101, dur=7 * MS)]
    make_run(tmp_path, "r", calls, [process("client", 1)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        found = summary(opened)
    read, opening = found.latencies
    assert (read.op, read.calls, read.mean) == ("read", 100, 50_500_000)
    assert (opening.op, opening.calls, opening.mean) == ("open", 1, 7 * MS)
    times = {"p50": 50 * MS, "p95": 95 * MS, "p99": 99 * MS}
    assert {name: getattr(read, name) for name in times} == pytest.approx(times, rel=PRECISION)
    assert opening.p50 == opening.p99 == 7 * MS  # the only one of its bucket
    assert {*builtins(found)["latencies"][0]} == {"layer", "op", "calls", "mean", *times}


def test_a_call_within_one_of_its_operation_is_a_part_of_that(traced: Traced) -> None:
    """GIVEN a packet within a block, and a read that hands on to another one THEN the packet has a
    time of its own, and the reads are one call."""
    inner = FLAG["inner"]
    calls = [
        row_of_call("datanode", "receive_block", "b", dur=16),
        row_of_call("datanode", "receive_packet", "b", dur=15, flags=inner),
        row_of_call("java", "read", "/a", dur=17),
        row_of_call("java", "read", "/a", dur=9, flags=inner | FLAG["double_counted"]),
        row_of_call("java", "read", "/a", dur=None),  # not timed
    ]
    found = traced(calls).records(durations_by_host(), JobDurations)
    assert [(row.layer, row.calls, row.time) for row in found] == [
        ("datanode", 1, 15),
        ("datanode", 1, 16),
        ("java", 1, 17),
    ]


def test_how_long_calls_took_by_bucket(traced: Traced) -> None:
    given = {"host": "a", "job": "j"}
    engine = traced(
        [
            *(row_of_call("java", "read", "/a", dur=dur, **given) for dur in (90, 91, 200)),
            row_of_call("hdfs", "read", "/a", dur=90, host="a"),
        ]
    )
    found = engine.records(durations_by_host(), JobDurations)
    assert [(row.host, row.layer, row.job, row.calls, row.time) for row in found] == [
        ("a", "hdfs", "", 1, 90),
        ("a", "java", "j", 2, 181),
        ("a", "java", "j", 1, 200),
    ]
    assert all(lower(row.bucket) * row.calls <= row.time for row in found)


def test_a_sample_has_intervals_around_the_truth(tmp_path: Path) -> None:
    """GIVEN 6,000 requests of four reads each, a quarter of them kept THEN intervals hold what all
    would have said, and are narrower than the numbers themselves."""
    random = np.random.default_rng(3)
    truth, kept = [], []
    for request in range(6000):
        times = (np.exp(random.normal(0, 0.5)) * random.uniform(0.8, 1.2, 4) * MS).astype(int)
        truth += list(times)
        if random.random() < 0.25:
            kept += [(request * 4 + n + 1, request * 4 + 1, int(ns)) for n, ns in enumerate(times)]
    events = [
        row_of_call(
            "java",
            "read",
            "/a",
            proc=1,
            span=span,
            parent=None if span == first else first,
            dur=ns,
            inclusion=0.25,
        )
        for span, first, ns in kept
    ]
    events.append(row_of_sum("java", "read", count=24_000, timed=24_000, timed_dur=sum(truth)))
    make_run(tmp_path, "r", events, [process("client", 1)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        found = summary(opened)
    (row,) = found.latencies
    assert row.calls is not None
    assert row.calls_bound is not None
    assert abs(row.calls - 24_000) <= row.calls_bound < 3_000
    exact = {"mean": np.mean(truth)} | {f"p{at}": np.quantile(truth, at / 100) for at in (50, 95)}
    for name, ns in exact.items():
        low, high = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
        assert low <= ns <= high, name
        assert low <= getattr(row, name) <= high
        assert high - low < 0.5 * getattr(row, name), name
    assert row.p99 is None  # 1,500 requests say too little about the last hundredth
    (line,) = [line for line in summary_lines(found) if "java" in line and " to " in line]
    assert (line.count("~"), line.count("too few")) == (4, 1)


def test_too_few_requests_say_nothing(tmp_path: Path) -> None:
    events = [
        row_of_call("java", "read", "/a", proc=1, span=n, dur=MS, inclusion=0.5)
        for n in range(1, 50)
    ]
    events.append(row_of_sum("java", "read", count=98, timed=98, timed_dur=98 * MS))
    make_run(tmp_path, "r", events, [process("client", 1)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        found = summary(opened)
    (row,) = found.latencies
    assert {getattr(row, name) for name in ("calls", "mean", "p50", "p95", "p99")} == {None}
    (line,) = [line for line in summary_lines(found) if line.count("too few") == 5]
    assert "java" in line
