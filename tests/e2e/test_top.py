"""A run that is still going on, watched: its bytes are those that its program says it wrote."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Iostrata = Callable[..., subprocess.CompletedProcess[str]]
SIZE, LINE = 4096, 13  # bytes of each write, and of the line that says so
NUMBERS = ("calls", "bytes_read", "bytes_written", "bytes_received", "bytes_sent")


class Said:
    """What a program has said so far, and when each line came."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self.lines: list[tuple[int, int]] = []  # ns since the epoch, calls
        self.came = threading.Condition()
        self._reader = threading.Thread(target=self._read, args=[program])
        self._reader.start()

    def _read(self, program: subprocess.Popen[str]) -> None:
        assert program.stdout is not None
        for line in program.stdout:
            with self.came:
                self.lines.append((time.time_ns(), int(line)))
                self.came.notify_all()

    def wait_for(self, calls: int) -> None:
        with self.came:
            assert self.came.wait_for(lambda: self.calls() >= calls, timeout=180)

    def calls(self, until: int | None = None) -> int:
        """How many it said by then."""
        known = [calls for at, calls in self.lines if until is None or at <= until]
        return max(known, default=0)

    def end(self) -> None:
        self._reader.join()


@pytest.fixture
def iostrata(tmp_path: Path) -> Iostrata:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "iostrata", *arguments],
            env={**os.environ, "IOSTRATA_STORE": str(tmp_path / "store"), "TERM": "dumb"},
            capture_output=True,
            text=True,
            check=True,
        )

    return call


def java_layer(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = (row for row in rows if row["layer"] == "java")
    return {name: found[name] for name in NUMBERS}


def test_a_run_is_watched_to_its_end(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    # GIVEN a program that writes at a known pace while one of its threads waits in a read
    pipe, name = tmp_path / "pipe", f"top-{os.getpid()}"
    os.mkfifo(pipe)
    java = ["java", "-cp", str(program), "Paced", str(tmp_path / "data"), str(pipe), str(SIZE)]
    with subprocess.Popen(
        [sys.executable, "-m", "iostrata", "record", "--run", name, "--", *java],
        env={**os.environ, "IOSTRATA_STORE": str(tmp_path / "store")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as recorder:
        said = Said(recorder)
        with pipe.open("w") as stop:
            said.wait_for(50)
            # WHEN it is looked at
            seen = json.loads(iostrata("top", "--once", "--json").stdout)
            most = said.calls() + 2  # a call, and a line, are under way
            # THEN no byte is missing that was written until then, and none is invented
            assert (seen["run"], seen["state"]) == (name, "recording")
            written = java_layer(seen["totals"])["bytes_written"]
            least = said.calls(until=seen["as_of"])
            # the write of a line may not have returned when the line is read here
            assert least * (SIZE + LINE) - LINE <= written <= most * (SIZE + LINE)
            assert written > 0
            # AND what was written meanwhile is a part of it, or all, if the first look was early
            (rate,) = (row for row in seen["rates"] if row["layer"] == "java")
            assert 0 < round(rate["bytes_written"] * seen["window"] / 10**9) <= written
            assert rate["recorded"] > 0
            assert 0 < rate["p50"] <= rate["p99"]
            # AND the read that waits is open, for longer than the run was looked at
            (waits,) = (call for call in seen["open"] if call["target"] == str(pipe))
            assert (waits["layer"], waits["op"], waits["thread"]) == ("java", "read", "waits")
            assert waits["for"] > seen["window"] > 0
            text = iostrata("top", name, "--once").stdout
            assert "as of " in text.splitlines()[0]
            assert re.search(rf"java\.read +\S*/{pipe.name} ", text)  # in 80 columns
            stop.write("stop")
        said.end()
        assert recorder.wait(timeout=180) == 0
    # AND in the end it says what the summary says
    ended = json.loads(iostrata("top", name, "--once", "--json").stdout)
    summary = json.loads(iostrata("summary", name, "--json").stdout)
    assert ended["state"] == "ok"
    assert ended["open"] == []
    assert [{name: row[name] for name in ("layer", *NUMBERS)} for row in summary["layers"]] == (
        ended["totals"]
    )
    assert java_layer(ended["totals"])["bytes_written"] == said.calls() * (SIZE + LINE)
    assert not list((tmp_path / "store" / name).glob("live-*"))
