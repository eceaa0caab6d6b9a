"""What a frozen version allows, and what it refuses."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from schema import frozen

NOW = frozen.now()


def changed(section: str, **values: Any) -> dict[str, Any]:
    """The contract with other or new values in a section; None takes one away."""
    now = copy.deepcopy(NOW)
    now[section] |= values
    now[section] = {name: value for name, value in now[section].items() if value is not None}
    return now


def test_the_contract_is_what_its_version_froze(capsys: pytest.CaptureFixture[str]) -> None:
    assert frozen.main([]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("layer", {"mpi": 13}),
        ("category", {"stage": 29}),
        ("kept", {"stage": "phase"}),
        ("process_counter", {"late_calls": 6}),
        ("columns", {"rank": "i32"}),
        ("process_columns", {"application": "string"}),
        ("control", {"asked_for": 48}),
        ("points", {"331": "posix.read libc#read"}),
        ("points", {"1": None}),
    ],
)
def test_what_may_be_added(section: str, values: dict[str, Any]) -> None:
    assert frozen.differences(NOW, changed(section, **values)) == []


@pytest.mark.parametrize(
    ("section", "values", "line"),
    [
        ("slot", {"dur": 16}, "slot.dur is 16, not 8"),
        ("slot", {"rank": 60}, "slot.rank is new"),
        ("flag", {"remote": None}, "flag.remote is gone, not 8"),
        ("kind", {"mark": 8}, "kind.mark is new"),
        ("category", {"blk": 11}, "category.blk is 11, not 9"),
        ("columns", {"bytes": "f64"}, "columns.bytes is f64, not i64"),
        ("columns", {"trace": None}, "columns.trace is gone, not i64"),
        ("control", {"word": 20}, "control.word is 20, not 16"),
        ("points", {"1": "java.read A#b"}, f"point 1 is java.read A#b, not {NOW['points']['1']}"),
        ("goldens", {"control": ""}, "golden file control has changed"),
    ],
)
def test_what_may_not_change(section: str, values: dict[str, Any], line: str) -> None:
    assert frozen.differences(NOW, changed(section, **values)) == [line]


def test_columns_are_added_at_the_end() -> None:
    now = copy.deepcopy(NOW)
    now["columns"] = {"rank": "i32", **now["columns"]}
    assert frozen.differences(NOW, now) == ["columns: new columns stand before others"]
    assert frozen.added(NOW, now) == {
        "columns": ["rank"],
        "process_columns": [],
        "system_columns": [],
    }


def test_a_frozen_version_is_not_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert frozen.main(["--write"]) == 1
    assert "begin version 2: version = 2 in schema/events.toml" in capsys.readouterr().err
