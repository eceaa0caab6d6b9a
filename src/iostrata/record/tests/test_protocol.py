"""What a collector answers is read value by value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from iostrata.record.collector import Collector
from iostrata.record.protocol import RunProgress, read_progress
from iostrata.store.coverage import SeenProcess


def answered(store: Path, text: str) -> RunProgress:
    (store / "r").mkdir()
    (store / "r/progress.json").write_text(text)
    return read_progress(Collector(store, store, 1, 1, 0, "node", "1"), "r")


@pytest.mark.parametrize("text", ["", "{", "[]", '"done"', "{}"])
def test_no_answer_is_an_empty_one(tmp_path: Path, text: str) -> None:
    assert answered(tmp_path, text) == RunProgress()


def test_values_of_another_kind_are_left_out(tmp_path: Path) -> None:
    answer = {"state": "done", "events": "many", "bytes": 7, "jobs": ["job_1_0001"], "news": 1}
    found = answered(tmp_path, json.dumps(answer))
    assert found == RunProgress(state="done", bytes=7, jobs=("job_1_0001",))


def test_a_coverage_names_processes(tmp_path: Path) -> None:
    processes = [{"host": "n", "role": "map", "pid": 7, "traced": True}, {"host": "n", "pid": 8}]
    coverage: dict[str, Any] = {"processes": processes, "tasks": [], "layers": ["fs"]}
    coverage |= {"of_jobs": False, "faulted_points": [], "unfinished": 0}
    found = answered(tmp_path, json.dumps({"coverage": coverage})).coverage
    assert found is not None
    untraced, traced = found.processes
    assert untraced == SeenProcess(host="n", pid=8)
    assert (traced.role, traced.traced, found.layers) == ("map", True, ["fs"])
