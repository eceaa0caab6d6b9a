"""Mixes as a user asks for them, on this machine and without a recording."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from iostrata.record.collector import Collector
from iostrata.record.session import RecordRequest
from iostrata_lab.mix.runner import MixOrder, check, free_name

SHORT = ("sleep 0.2; test -d $MIX_OWN", "echo $MIX_REPETITION > $MIX_OWN/number; sleep 0.1")


MIX = (sys.executable, "-m", "iostrata", "mix", "--untraced", "--store", "store")


def mix(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In a folder, without recording."""
    return subprocess.run([*MIX, *words], cwd=folder, capture_output=True, text=True, check=False)


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("iostrata-mix")]


def test_programs_are_slower_together_or_nobody_knows(tmp_path: Path) -> None:
    done = mix(tmp_path, *SHORT, "--repeats", "2", "--json", "--quiet", "--out", "out")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["recorded"], said["repeats"]) == (False, 2)
    (here,) = said["labs"]
    first, second = here["programs"]
    assert min(first["alone"]) > 0.2
    assert min(second["alone"]) > 0.1
    assert first["slowdown"]["trials"] == 2
    assert all(number >= 1 for number in second["repetitions"])
    assert here["operations"] == here["runs"] == []
    assert {"machine CPU"} <= {one["kind"] for one in here["resources"]}
    assert (tmp_path / "out/mix.md").read_text().startswith("# Programs alone and together")
    assert left(tmp_path) == []


def test_each_combination_is_beside_the_same_programs_alone(tmp_path: Path) -> None:
    words = ("--together", "AB", "--together", "AC", "--repeats", "1", "--json", "--quiet")
    # A waits while C runs
    programs = ("sleep 0.1; test ! -e c || sleep 0.5", "sleep 0.2", "touch c; sleep 0.7; rm c")
    done = mix(tmp_path, *programs, *words)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["trials"] == 5
    first, second = said["labs"]
    assert (first["together"], second["together"]) == ("AB", "AC")
    assert [one["name"] for one in second["programs"]] == ["A", "C"]
    assert first["programs"][0]["alone"] == second["programs"][0]["alone"]
    (beside_b, *_), (beside_c, *_) = (one["programs"][0]["together"] for one in (first, second))
    assert beside_c > beside_b + 0.4


def test_a_mix_that_was_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    words = ("test -e slow && [ -e began ] && sleep 60; touch began; true", "true", "--repeats=1")
    running = subprocess.Popen([*MIX, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    # the second trial with A sleeps
    while not (tmp_path / "began").exists() or not (said := _trials(tmp_path)):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.5)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 130
    assert left(tmp_path) == []
    (tmp_path / "slow").unlink()
    done = mix(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("taken from before") >= said


def _trials(folder: Path) -> int:
    found = list((folder / "store/.mixes").glob("*/trials.json"))
    return len(json.loads(found[0].read_text())) if found else 0


def test_one_that_fails_ends_the_mix_and_says_why(tmp_path: Path) -> None:
    done = mix(tmp_path, "echo broken >&2; exit 3", "true", "--repeats", "1", "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("iostrata: A failed with 3 in here-1-A")
    assert "broken · all it said: " in line
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("true",), "1 programs are no mix: it takes 2 to 8"),
        (("true", " "), "a command is empty"),
        (("true", "true", "--on", "nowhere"), "no lab 'nowhere'"),
        (("true", "true", "--together", "BA"), "'BA' is no combination of programs"),
        (("true", "true", "--together", "AC"), "'AC' is no combination of programs"),
        (("true", "true", "--budget", "much"), "budget"),
        (("true", "true", "--setup", "exit 4"), "--setup failed with 4: it said nothing"),
    ],
)
def test_what_cannot_work_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = mix(tmp_path, *words, "--quiet")
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert said in line
    assert left(tmp_path) == []


def test_the_same_mix_runs_once_at_a_time(tmp_path: Path) -> None:
    words = ("touch $MIX_SHARED/x; sleep 20", "true")
    first = subprocess.Popen([*MIX, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("iostrata-mix-*/shared/x")):
        assert time.monotonic() < until
        time.sleep(0.05)
    done = mix(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iostrata: this mix runs already · wait for it")
    assert list(tmp_path.glob("iostrata-mix-*/shared/x"))  # which is the first one's
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130
    assert left(tmp_path) == []


def test_a_link_in_place_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "iostrata-mix-mine").symlink_to(elsewhere)
    done = mix(tmp_path, "true", "true", "--name", "mine", "--repeats", "1", "--quiet")
    assert (done.returncode, done.stdout) == (2, "")
    assert "iostrata-mix-mine: File exists · remove it" in done.stderr
    assert list(elsewhere.iterdir()) == []


def test_a_run_has_a_name_that_the_collector_has_not_either(tmp_path: Path) -> None:
    """GIVEN runs that are no longer in a user's store, and one that is."""
    own, theirs = tmp_path / "own", tmp_path / "theirs"
    uid = os.geteuid()
    collector = Collector(tmp_path, theirs, 1, 1, uid, "", "")
    for path in (theirs / "m", own / "m.2", theirs / f"m.3.{uid}"):
        path.mkdir(parents=True)
    asked = RecordRequest([], own, "", collector)
    assert free_name(asked, "m") == "m.3"
    (theirs / "m.3").mkdir()
    assert free_name(asked, "m") == "m.4"
    assert free_name(replace(asked, collector=replace(collector, uid=uid + 1)), "m") == "m"


def test_the_same_mix_has_the_same_name(tmp_path: Path) -> None:
    order = MixOrder(["a", "b"], ["x"], 5, 1, tmp_path)
    assert order.called == MixOrder(["a", "b"], ["x"], 9, 1, tmp_path).called
    assert order.called != MixOrder(["a", "c"], ["x"], 5, 1, tmp_path).called
    with pytest.raises(Exception, match="no lab 'x'"):
        check(order)
