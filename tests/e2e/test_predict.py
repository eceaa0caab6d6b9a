"""A folder is profiled by fio, and a model says what was not measured."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata

SPEC = """
name = "here"
folder = "{folder}"
[dimensions]
operation = ["read", "write"]
access = ["sequential", "90-10"]
size = ["16MiB", "32MiB"]
clients = [2]
request = "64KiB"
[measure]
repetitions = [2, 2]
others = 1
"""
OPTIONS = ("--yes", "--out")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    path = tmp_path / "here.toml"
    path.write_text(SPEC.format(folder=tmp_path / "data"))
    return path


def test_the_commands_of_the_guide(spec: Path, tmp_path: Path, iostrata: Iostrata) -> None:
    data, profile = tmp_path / "data", tmp_path / "profiles" / "here"
    planned = iostrata("profile", str(spec), "--plan")
    assert planned.stdout.startswith("here: 8 points, 2 to 2 samples each"), planned.stderr
    refused = iostrata("profile", str(spec))
    assert (refused.returncode, "add --yes" in refused.stderr) == (2, True)
    assert not list(data.iterdir())

    done = iostrata("profile", str(spec), *OPTIONS, str(profile.parent), "--json")
    assert done.returncode == 0, done.stderr
    state = json.loads(done.stdout)
    assert (state["points"], state["unmeasured"]) == (8, 0)
    assert state["samples"] == 16
    assert not list(data.iterdir())
    # nothing is left to do
    again = iostrata("profile", str(spec), *OPTIONS, str(profile.parent), "--json")
    assert json.loads(again.stdout) == state

    fitted = iostrata("fit", str(profile))
    assert f"of {state['samples']} samples of 8 points" in fitted.stdout, fitted.stderr
    assert (profile / "model.svg").read_text().startswith("<svg")
    point = ("operation=read", "access=sequential")
    model = str(profile / "model.json")
    asked = iostrata("predict", model, *point, "size=20MiB", "--bytes", "1GiB", "--json")
    found = json.loads(asked.stdout)
    lines = (profile / "samples.jsonl").read_text().splitlines()
    measured = [json.loads(line)["throughput"] for line in lines]
    assert min(measured) <= found["throughput"] <= max(measured)
    assert found["low"] < found["throughput"] < found["high"]
    assert found["time"] == pytest.approx(1e9 * (1 << 30) / found["throughput"])
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**json.loads(Path(model).read_text()), "name": "there"}))
    # so little dearer that its interval overlaps, however narrow what was measured makes both
    prices = ("--price", "here=1.000001", "--price", "there=1")
    words = (*point, "size=20MiB", "--bytes", "1GiB", *prices)
    ranked = iostrata("predict", model, str(other), *words)
    first, second, doubt = ranked.stdout.splitlines()
    assert (first.split(":")[0], second.split(":")[0]) == ("there", "here"), ranked.stderr
    assert "1GiB: " in first
    assert "; price " in first
    assert doubt == "intervals overlap with that of there: here"
    beyond = iostrata("predict", model, *point, "size=1GiB")
    assert beyond.returncode == 2
    assert "beyond the profile of here: size 1 GiB (profiled: 16 MiB to 32 MiB)" in beyond.stderr


def test_a_recorded_program_is_a_load(spec: Path, tmp_path: Path, iostrata: Iostrata) -> None:
    data, out = tmp_path / "data", tmp_path / "profiles"
    profiled = iostrata("profile", str(spec), *OPTIONS, str(out))
    assert profiled.returncode == 0, profiled.stderr
    assert iostrata("fit", str(out / "here")).returncode == 0
    model = str(out / "here" / "model.json")
    for name in ("a", "b"):
        (data / name).write_bytes(os.urandom(20 << 20))
    command = ("md5sum", str(data / "a"), str(data / "b"))
    record = ("record", "--native", "--private", "--budget", "off", "--run", "p", "--")
    recorded = iostrata(*record, *command)
    assert recorded.returncode == 0, recorded.stderr

    asked = ("predict", model, "--run", "p", "--folder", str(data / "a"))
    beyond = iostrata(*asked)
    assert beyond.returncode == 2
    assert "beyond the profile of here: clients 1 (profiled: 2)" in beyond.stderr
    found = json.loads(iostrata(*asked, "clients=2", "--json").stdout)
    assert found["moving"] == pytest.approx(1e9 * (20 << 20) / found["throughput"], rel=1e-6)
    assert found["least"] < found["time"] < found["most"]
    both = iostrata("predict", model, "--run", "p", "--folder", str(data), "clients=2")
    assert "moves 40.0 MiB" in both.stderr
    assert ", of which " in both.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_a_profile_that_is_ended_goes_on(
    how: signal.Signals, spec: Path, tmp_path: Path, iostrata: Iostrata
) -> None:
    data, samples = tmp_path / "data", tmp_path / "profiles/here/samples.jsonl"
    words = ("profile", str(spec), *OPTIONS, str(tmp_path / "profiles"), "--json")
    started = subprocess.Popen(
        [sys.executable, "-m", "iostrata", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "IOSTRATA_STORE": str(tmp_path / "store")},
    )
    end = time.monotonic() + 120
    while not samples.exists() or len(samples.read_text().splitlines()) < 3:
        assert time.monotonic() < end
        time.sleep(0.05)
    started.send_signal(how)
    started.wait()
    before = samples.read_text().splitlines()
    if how == signal.SIGINT:
        assert not list(data.iterdir())
    done = iostrata(*words)
    assert json.loads(done.stdout)["unmeasured"] == 0
    assert samples.read_text().splitlines()[: len(before)] == before
    assert not list(data.iterdir())
