"""Verdicts on kinds of jobs, from what their runs did with space."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from iostrata.place.classify import Bound, FileKind, classes
from iostrata.place.samples import PLACES, JobSample, job_samples, pattern_of
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, find_run
from iostrata.store.tests.made import SECOND, START, make_run, process, row_of_call, row_of_sum

MIB = 1 << 20
JOB = "job_1_0001"
TASK = "attempt_1_0001_m_000000_0"


def sample(pattern: str, run: str, kept: float, computed: float | None = None) -> JobSample:
    most = 10 * MIB
    return JobSample(pattern, run, None, 0, most, round(kept * most), [0] * PLACES, computed)


@pytest.mark.parametrize(
    ("facts", "pattern"),
    [
        ({"title": "terasort rows=1000 maps=2"}, "terasort"),
        ({"command": ["hadoop", "jar", "/x/e.jar", "grep", "-Da=b", "/in", "/out", "2"]},
         "hadoop jar e.jar grep"),
        ({"command": ["/usr/bin/sort", "-o", "/tmp/a", "/tmp/b"]}, "sort"),
    ],
)  # fmt: skip
def test_runs_of_a_kind_share_words(facts: dict[str, Any], pattern: str) -> None:
    run = Run("r", Path("r"), **{**facts, "command": tuple(facts.get("command", ["java"]))})
    assert pattern_of(run) == pattern
    assert pattern_of(run, re.compile("sor(t)")) == ("t" if "sort" in run.label else "")


def test_each_run_has_a_vote() -> None:
    """GIVEN a kind of which two of three runs leave less than a tenth, and one that is even
    THEN the first is temporary, by the rule of succession, and nothing is said of the other."""
    found = classes(
        [
            sample("sort", "a", 0.02, 0.2),
            sample("sort", "b", 0.05, 0.4),
            sample("sort", "c", 0.5, 0.9),
            sample("even", "a", 0.0),
            sample("even", "b", 1.0),
        ]
    )
    even, sort = sorted(found, key=lambda one: one.pattern)
    assert (sort.files, sort.files_sure, sort.bound, sort.bound_sure) == (
        FileKind.temporary, 3 / 5, Bound.io, 3 / 5,
    )  # fmt: skip
    assert (even.files, even.files_sure, even.bound) == (FileKind.unknown, 0.0, Bound.unknown)
    assert classes([sample("sort", "a", 0.05)], beta=0.01)[0].files is FileKind.permanent


def test_jobs_that_use_next_to_nothing_are_left_out() -> None:
    little = JobSample("a", "r", None, 0, MIB - 1, 0, [0] * PLACES, None)
    assert classes([little]) == []


def read(home: Path, events: list[dict[str, Any]], *whose: dict[str, Any]) -> list[JobSample]:
    command = ["hadoop", "jar", "e.jar", "sort"]
    make_run(home, "r", events, [*whose], command=command, end=START + 4 * SECOND)
    with OpenedRun(find_run(home, "r")) as opened:
        return job_samples(opened)


def spilled(size: int, **more: Any) -> dict[str, Any]:
    given = {"category": "spill", "job": JOB, "role": "map", "proc": 1, "start": START}
    given |= {"target": "/l/a", "dur": SECOND, "bytes": size, **more}
    return row_of_sum("java", "write", **given)


def test_the_space_of_a_job(tmp_path: Path) -> None:
    """GIVEN a map that spills 3 MiB, and is gone after three of four seconds
    THEN nothing is left, and the curve has risen and fallen."""
    task = process("map", 1, proc=1, job=JOB, task=TASK, start=START, end=START + 3 * SECOND)
    [found] = read(tmp_path, [spilled(3 * MIB)], task)
    assert (found.pattern, found.job, found.most, found.left) == (
        "hadoop jar e.jar sort", JOB, 3 * MIB, 0,
    )  # fmt: skip
    assert (found.curve[0], max(found.curve), found.curve[-1]) == (0, 3 * MIB, 0)
    assert found.computed is None


def test_a_run_without_jobs_is_one(tmp_path: Path) -> None:
    """GIVEN two programs, of which one deletes its file, and the CPU took half of their time"""
    whose = [
        process(name, number, proc=number, cpu=SECOND, start=START, end=START + 2 * SECOND)
        for number, name in enumerate(("sort", "tee"), 1)
    ]
    nobody = {"job": None, "category": "file"}
    events = [
        spilled(3 * MIB, **nobody, role="sort"),
        spilled(MIB, **nobody, role="tee", proc=2, target="/l/b"),
        row_of_call("java", "delete", "/l/a", start=START + 2 * SECOND, proc=1, role="sort"),
    ]
    [found] = read(tmp_path, events, *whose)
    assert (found.job, found.most, found.left, found.computed) == (None, 4 * MIB, MIB, 0.5)


def test_several_jobs_of_a_run_are_told_apart(tmp_path: Path) -> None:
    other = spilled(2 * MIB, job="job_1_0002", target="/l/b")
    found = read(tmp_path, [spilled(3 * MIB), other], process("map", 1, proc=1, job=JOB))
    assert [(one.pattern, one.most) for one in found] == [
        ("hadoop jar e.jar sort #1", 3 * MIB), ("hadoop jar e.jar sort #2", 2 * MIB),
    ]  # fmt: skip
