"""Lists of programs of others, and the page that is made of their runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench.rules.causes import LABS
from bench.rules.independent import RunList, page, run_list

from iostrata.explain.rules import RULES

HERE = Path(__file__).parents[1]
NAMES = ("others", "others2", "others3", "settings")
LISTS = [run_list(HERE / f"{name}.toml") for name in NAMES]


@pytest.mark.parametrize("known", LISTS, ids=NAMES)
def test_runs_of_a_list_name_what_there_is(known: RunList) -> None:
    for run in known.runs:
        assert set(run.causes) <= set(RULES)
        assert not run.lab or run.lab in LABS
        assert set(run.inputs) <= set(known.inputs)
        assert bool(run.planted) == bool(run.causes)


@pytest.mark.parametrize("known", LISTS[1:], ids=NAMES[1:])
def test_each_cause_has_a_baseline(known: RunList) -> None:
    """THEN this is a healthy run of the same program, on the same lab."""
    for run in known.runs:
        assert bool(run.baseline) == bool(run.causes), run.title
        if run.baseline:
            baseline = known.of(run.baseline)
            assert not baseline.causes
            assert (baseline.program, baseline.lab) == (run.program, run.lab)


def test_the_second_list_has_the_fields_of_the_first() -> None:
    command = LISTS[1].of("wordmedian").command
    given = {"examples": "e.jar", "run": "wordmedian"}
    said = LISTS[1].filled(command, given)
    assert said.startswith("hadoop jar e.jar wordmedian -Dmapreduce.map.speculative=false ")
    assert said.endswith(" /set/text /set/out-wordmedian")


def row(cause: str, before: list[float], *found: str) -> dict[str, Any]:
    """A run whose baseline takes 10 s, and its findings."""
    gain = {"low": 0.2, "high": 0.45, "of": "time of the run"}
    findings = [
        {"rule": rule, "severity": "severe", "share": 0.5, "gain": gain if rule == cause else None}
        for rule in found
    ]
    cost = {"before_s": before, "after_s": [10.0, 10.0]} if before else None
    given = {"program": "sort", "planted": "a plant", "causes": [cause] if cause else []}
    return {**given, "wall": 10**10, "findings": findings, "cost": cost}


def test_a_cause_that_costs_nothing_is_judged_apart() -> None:
    rows = [
        row("", []),
        row("gc-bound", [20.0, 20.0], "idle", "gc-bound"),
        row("one-reduce", [20.0, 25.0], "idle"),
        row("local-sync", [10.1, 10.2]),
    ]
    lines = page(rows).splitlines()
    assert lines[0].startswith("4 runs of 1 programs: the cause is among the first two findings in")
    assert "1 of 2 (" in lines[0]
    assert lines[1].startswith("In 1 of 3 (")
    assert lines[1].endswith("the cause cost nothing, less than 3% of the run; it is severe in 0 "
                             "of these.")  # fmt: skip
    head = next(i for i, line in enumerate(lines) if line.startswith("| program"))
    cells = [line.split(" | ")[2] for line in lines[head + 2 : head + 6]]
    assert cells[0] == "-"
    assert cells[1] == "50% (50% to 50%)"
    assert cells[3].startswith("1% (")
    assert cells[3].endswith("; nothing")


def test_what_was_predicted_stands_beside_what_a_run_without_the_cause_saves() -> None:
    within = row("gc-bound", [20.0, 18.0], "idle", "gc-bound")
    above = row("one-reduce", [20.0, 20.0], "one-reduce")
    lines = page([within, above]).splitlines()
    assert lines[-2:] == [
        "| sort | a plant | gc-bound | 19.0 s | 10.0 s | 20% to 45% | 47% (12% to 83%) | yes |",
        "| sort | a plant | one-reduce | 20.0 s | 10.0 s | 20% to 45% | 50% (50% to 50%) | above |",
    ]


def test_a_list_without_baselines_has_no_costs() -> None:
    (healthy, broken) = row("", []), row("gc-bound", [], "gc-bound")
    assert "cost" not in page([healthy, broken])
