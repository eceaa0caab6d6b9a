"""Made runs compared: what is said to have changed, and what makes runs differ as runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from iostrata.analyse.changes import GroupChange, change
from iostrata.analyse.comparison import (
    CHANGED,
    NOISE,
    UNKNOWN,
    Comparison,
    Difference,
    compare,
)
from iostrata.analyse.measured import (
    JOB,
    PHASES,
    POINTS,
    TARGETS,
    Measured,
    TableKind,
    measured,
)
from iostrata.show.compare.lines import change_text, comparison_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import (
    SECOND,
    START,
    make_run,
    process,
    row_of_call,
    row_of_sum,
)
from iostrata.text import seconds


def run(store: Path, name: str, write: int, count: int = 100, **facts: Any) -> Measured:
    """A run that writes for `write` ms and reads for 200."""
    written = {"count": count, "bytes": 4096 * count, "category": "file"}
    begin = facts.pop("start", START)
    make_run(
        store,
        name,
        [
            row_of_sum("java", "write", timed_dur=write * 10**6, phase="map", **written),
            row_of_sum("java", "read", count=5, bytes=50, timed_dur=200 * 10**6, category="xml"),
            row_of_call("java", "write", f"/out/job_{17000 + write}/x", dur=write * 10**6, bytes=9),
        ],
        [process("map", 3, cpu=write * 10**6, cost_hooks=0, cost_thread=0, cost_collector=0)],
        start=begin,
        end=begin + 3 * SECOND + write,
        **facts,
    )
    with OpenedRun(find_run(store, name)) as opened:
        return measured(opened)


def repeats(store: Path, name: str, *writes: int, **more: Any) -> list[Measured]:
    begin = START + (0 if name == "a" else 1000 * SECOND)
    return [
        run(store, f"{name}{n}", write, start=begin + 10 * n * SECOND, **more)
        for n, write in enumerate(writes)
    ]


def rows(comparison: Comparison, table: TableKind) -> list[Difference]:
    return next(each.rows for each in comparison.tables if each.id == table.id)


def verdicts(row: Difference) -> dict[str, str]:
    return {name: metric.verdict for name, metric in row.metrics.items()}


def groups(store: Path) -> Comparison:
    return compare(
        repeats(store, "a", 500, 510, 490, count=100), repeats(store, "b", 300, 305, 295, count=50)
    )


def test_what_changed_comes_first_with_its_interval(tmp_path: Path) -> None:
    write, read = rows(groups(tmp_path), POINTS)
    assert (write.key, read.key) == (("java.write",), ("java.read",))
    assert verdicts(write) == {"time": CHANGED, "calls": CHANGED, "bytes": CHANGED}
    time = write.metrics["time"]
    assert None not in (time.share, time.low, time.high)
    assert round(time.share or 0, 2) == -0.40
    assert -0.44 < (time.low or 0) < -0.40 < (time.high or 0) < -0.36
    # AND what is the same in all runs is no change
    assert verdicts(read) == {"time": NOISE, "calls": NOISE, "bytes": NOISE}
    assert read.time_grown == 0


def test_every_table_is_compared(tmp_path: Path) -> None:
    found = groups(tmp_path)
    keys = {table.id: [row.key for row in table.rows] for table in found.tables}
    assert keys == {
        "job": [("CPU of traced processes",), ("wall time",)],
        "layers": [("java",)],
        "points": [("java.write",), ("java.read",)],
        "categories": [("java", "file"), ("java", "xml")],
        "phases": [("map", "java")],
        "targets": [("java", "file", "/out/job_#/x")],  # numbers of jobs are of no matter
    }
    assert rows(found, PHASES)[0].metrics["time"].first == (
        rows(found, POINTS)[0].metrics["time"].first
    )
    assert rows(found, JOB)[0].verdict == rows(found, TARGETS)[0].verdict == CHANGED


def test_noise_of_the_repeats_is_no_change(tmp_path: Path) -> None:
    found = compare(repeats(tmp_path, "a", 400, 600, 500), repeats(tmp_path, "b", 450, 620, 480))
    assert {row.verdict for table in found.tables for row in table.rows} == {NOISE}
    assert found.unlike == []


def test_one_run_a_side_says_that_noise_is_not_known(tmp_path: Path) -> None:
    found = compare(repeats(tmp_path, "a", 500), repeats(tmp_path, "b", 100, 101))
    assert {row.verdict for table in found.tables for row in table.rows} == {UNKNOWN}
    assert found.notes == [
        "one run is no measure of noise: what differs may be chance (two a side at least)"
    ]


def test_what_makes_runs_differ_as_runs_stands_first(tmp_path: Path) -> None:
    first = repeats(tmp_path, "a", 500, 501)
    second = [
        run(tmp_path, "x", 500, level="task", command=["java", "Other"], state="interrupted"),
        run(tmp_path, "y", 500, level="task", command=["java", "Other"], sampling=10_000_000),
    ]
    lines = comparison_lines(compare(first, second))
    assert lines[:7] == [
        "not alike: command: java Job against java Other",
        "not alike: state: ok against interrupted | ok",
        "not alike: level: record against task",
        "not alike: sampling: 1/1 against 1/1 | 1/100",
        "not alike: at the same time: a0 and x",
        "not alike: at the same time: x and y",
        "not alike: not ended well: x (interrupted)",
    ]


def test_a_target_missing_in_a_cut_list_is_not_taken_for_none(tmp_path: Path) -> None:
    first, second = repeats(tmp_path, "a", 500), repeats(tmp_path, "b", 100)
    gone = Measured(
        "c", START, START, second[0].facts, {**second[0].tables, TARGETS: {}}, frozenset({TARGETS})
    )
    (row,) = rows(compare(first, [gone]), TARGETS)
    assert (row.metrics, row.verdict) == ({}, UNKNOWN)


def test_the_text_of_a_comparison(tmp_path: Path) -> None:
    lines = comparison_lines(groups(tmp_path))
    begin = next(n for n, line in enumerate(lines) if line.startswith("layer "))
    assert lines[:2] == ["A: 3 runs: a0, a1, a2", "B: 3 runs: b0, b1, b2"]
    cells = [
        ["layer", "time A", "time B", "grew", "time", "calls", "read", "written", "verdict"],
        ["java", "700.0 ms", "500.0 ms", "-200.0 ms", "-29 % (-31 % to -26 %)", "-48 %", "=",
         "-50 %", "changed: time, calls, written"],
    ]  # fmt: skip
    assert [re.split(" {2,}", line) for line in lines[begin : begin + 2]] == cells


def test_all_rows_are_shown_when_asked_for(tmp_path: Path) -> None:
    many = [row_of_sum("java", f"op{n:02}", timed_dur=1000 * n) for n in range(15)]
    sides = []
    for name in ("a", "b"):
        make_run(tmp_path, name, many, [])
        with OpenedRun(find_run(tmp_path, name)) as opened:
            sides.append([measured(opened)])
    found = compare(sides[0], sides[1])
    assert "and 5 more (--all shows them)" in comparison_lines(found)
    assert sum(line.startswith("java.op") for line in comparison_lines(found, every=True)) == 15


def test_an_interval_is_a_share_a_factor_or_a_difference_and_no_mixture() -> None:
    def text(first: list[float], second: list[float]) -> str:
        return change_text(change(first, second), seconds, interval=True)

    assert text([1e9, 1.1e9], [1.3e9, 1.2e9]) == "+19 % (-9.6 % to +57 %)"
    assert text([1e9, 1.5e9], [1.7e9, 1.2e9]) == "x 1.2 (x 0.36 to x 3.8)"
    assert text([0, 1e9, 2e9], [4e9, 9e9, 5e9]) == "+5.00 s (-740.7 ms to +10.74 s)"
    assert text([0, 0], [5e9, 6e9]) == "+5.50 s (-853.1 ms to +11.85 s)"
    assert change_text(GroupChange(0, 5e9), seconds) == "0 to 5.00 s"
