from __future__ import annotations

from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.store.runs import find_runs
from iostrata.store.tests.made import START, make_run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for place, name in enumerate(("before-2", "before-1", "after-1")):
        make_run(tmp_path, name, start=START + place)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("after-1", ["after-1"]),
        ("after-1, before-1", ["before-1", "after-1"]),
        ("before-*", ["before-2", "before-1"]),  # oldest first
        ("*-1,before-1", ["before-1", "after-1"]),
        ("[ab]*-?", ["before-2", "before-1", "after-1"]),
    ],
)
def test_a_list_or_a_pattern_names_runs(store: Path, names: str, found: list[str]) -> None:
    assert [run.name for run in find_runs(store, names)] == found


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("", "'' names no run"),
        (" ,", "' ,' names no run"),
        ("none-*", "no run in .* is like none-*"),
        ("after-1,after-9", "no run after-9 in "),
    ],
)
def test_names_of_no_run_are_said(store: Path, names: str, message: str) -> None:
    with pytest.raises(UserError, match=message.replace("*", r"[*]").replace(".[*]", ".*")):
        find_runs(store, names)
