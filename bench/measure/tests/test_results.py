"""Results that outlive an interrupted run, and the pairs found in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.measure import workloads
from bench.measure.pairs import complete
from bench.measure.results import Results, read

JOB = workloads.terasort(8)
SIDES = ("traced", "plain")


def run(number: int, side: str, warm_up: bool = False, job: str = "TeraSort") -> dict[str, Any]:
    return {"job": job, "megabytes": 8, "number": number, "side": side, "warm_up": warm_up}


def test_what_was_measured_is_gone_on_with(tmp_path: Path) -> None:
    first = Results(tmp_path, "ab", {"megabytes": 8})
    first.add([run(1, "traced"), run(1, "plain")])
    second = Results(tmp_path, "ab", {"megabytes": 8})
    assert second.runs == first.runs
    second.add([run(2, "plain"), run(2, "traced")])
    second.conclude({"a": 1})
    facts = read(tmp_path / "ab.json")
    assert facts is not None
    assert [r["number"] for r in facts["runs"]] == [1, 1, 2, 2]
    assert facts["found"] == {"a": 1}
    assert len(facts["before"]) == 1
    assert facts["machine"]["cpus"] > 0
    assert second.having(number=2, side="plain") == [run(2, "plain")]


def test_other_settings_are_no_continuation(tmp_path: Path) -> None:
    Results(tmp_path, "ab", {"megabytes": 8}).add([run(1, "traced")])
    with pytest.raises(SystemExit, match=r"measured with \{'megabytes': 8\}, not with \{'meg"):
        Results(tmp_path, "ab", {"megabytes": 9})


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "ab.json").write_text("{")
    with pytest.raises(SystemExit, match="no file of results"):
        Results(tmp_path, "ab", {})
    assert read(tmp_path / "other.json") is None


def test_a_draft_never_stands_for_the_file(tmp_path: Path) -> None:
    results = Results(tmp_path, "ab", {})
    results.add([run(1, "traced")])
    assert [path.name for path in tmp_path.iterdir()] == ["ab.json"]
    assert json.loads((tmp_path / "ab.json").read_text())["runs"] == [run(1, "traced")]


def test_pairs_are_whole_and_warm() -> None:
    runs = [
        run(0, "traced", warm_up=True),
        run(0, "plain", warm_up=True),
        run(1, "traced"),
        run(1, "plain"),
        run(2, "plain"),
        run(3, "plain"),
        run(3, "traced"),
        run(4, "traced", job="WordCount"),
        run(4, "plain", job="WordCount"),
    ]
    found = [(a["number"], a["side"], b["side"]) for a, b in complete(runs, JOB, SIDES)]
    assert found == [(1, "traced", "plain"), (3, "traced", "plain")]


def test_jobs_say_how_much_they_move() -> None:
    job = workloads.dfsio("read", 64)
    # Four files of 15 MiB are nearest to 64 MB.
    assert job.megabytes == pytest.approx(62.9, abs=0.1)
    assert "-read -nrFiles 4 -size 15MB" in job.command
    assert "-write -nrFiles 4 -size 15MB" in job.prepare
    assert workloads.dfsio("write", 64).prepare == ""
    assert "teragen -Dmapreduce.job.maps=2 80000 " in JOB.prepare
    assert JOB.title == "TeraSort 8 MB"


def test_the_text_is_the_same_every_time(tmp_path: Path) -> None:
    first = workloads.text(tmp_path, 1).read_bytes()
    assert 1e6 <= len(first) < 1.4e6
    other = tmp_path / "other"
    other.mkdir()
    assert workloads.text(other, 1).read_bytes() == first
    assert max(map(len, first.split(b"\n"))) <= 71
