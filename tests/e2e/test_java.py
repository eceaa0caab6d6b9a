"""One event, the whole way: a Java program recorded by the command line, its numbers exact."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Verifies
from tests.e2e.jdks import JDKS_AND_8, java_home
from tests.e2e.truth import Run

Iostrata = Callable[..., subprocess.CompletedProcess[str]]
CALLS, SIZE = 1000, 4096


def java(program: Path, file: Path, exit_code: int = 0, home: Path | None = None) -> list[str]:
    command = str(home / "bin/java") if home else "java"
    return [command, "-cp", str(program), "Reads", str(file), str(CALLS), str(SIZE), str(exit_code)]


def on_target(store: Path, run: str, target: Path) -> dict[str, tuple[int, int]]:
    """Calls and bytes per operation on one file, from the calls recorded individually."""
    sql = (
        "SELECT op, count(*)::BIGINT AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes "
        f"FROM calls WHERE layer = 'java' AND target = '{target}' GROUP BY op"
    )
    done = subprocess.run(
        [sys.executable, "-m", "iostrata", "query", sql, "--run", run, "--format", "json"],
        env={**os.environ, "IOSTRATA_STORE": str(store)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {row["op"]: (row["calls"], row["bytes"]) for row in json.loads(done.stdout)}


def summary(iostrata: Iostrata, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(iostrata("summary", run, "--json").stdout)
    return found


def leftovers(run: str) -> list[Path]:
    """Directories of private recordings of that name, which no other test may use."""
    return list(Path("/dev/shm").glob(f"iostrata-{os.getuid()}-{run}-*"))


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS_AND_8)
def test_bytes_and_counts_are_exact(
    version: str,
    tmp_path: Path,
    program: Path,
    iostrata: Iostrata,
    verifies: Verifies,
) -> None:
    file, run = tmp_path / "data", f"exact-{version}-{os.getpid()}"
    # WHEN
    done = iostrata("record", "--run", run, "--", *java(program, file, home=java_home(version)))
    # THEN the program's output is its own
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    assert "absent\n" in done.stderr
    assert "iostrata 0.1.0: " not in done.stderr  # the agent has nothing to say
    # AND the file was written and read by exactly these calls; the last read returns nothing
    assert on_target(tmp_path / "store", run, file) == {
        "write": (CALLS, CALLS * SIZE),
        "read": (CALLS + 1, CALLS * SIZE),
    }
    # AND totals, from sums, lost nothing
    found = summary(iostrata, run)
    assert (found["processes"]["traced"], found["processes"]["total"]) == (1, 1)
    assert {name: found[name] for name in ("dropped", "collapsed", "lost", "rejected")} == {
        "dropped": 0, "collapsed": 0, "lost": 0, "rejected": 0,
    }  # fmt: skip
    (layer,) = [row for row in found["layers"] if row["layer"] == "java"]
    assert layer["bytes_written"] >= CALLS * SIZE
    assert layer["bytes_read"] >= CALLS * SIZE
    assert (found["run"]["state"], found["run"]["exit"]) == ("ok", 0)
    # AND nothing is left behind but the run
    assert leftovers(run) == []
    assert not list((tmp_path / "store/.spool").glob("*"))
    verifies(Run(tmp_path / "store", run), {3: CALLS + 1, 13: CALLS}, where="category = 'file'")


def test_sums_and_calls_agree(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    iostrata("record", "--run", "r", "--", *java(program, tmp_path / "data"))
    sql = (
        "SELECT point, sum(CASE kind WHEN 'sum' THEN \"count\" ELSE 0 END)::BIGINT AS sums, "
        "sum(CASE kind WHEN 'call' THEN 1 ELSE 0 END)::BIGINT AS calls, "
        "sum(CASE kind WHEN 'sum' THEN bytes ELSE 0 END)::BIGINT AS sum_bytes, "
        "sum(CASE kind WHEN 'call' THEN greatest(bytes, 0) ELSE 0 END)::BIGINT AS call_bytes "
        "FROM events WHERE point IS NOT NULL AND kind IN ('sum', 'call') GROUP BY point"
    )
    rows = json.loads(iostrata("query", sql, "--format", "json").stdout)
    assert rows
    assert [(row["sums"], row["sum_bytes"]) for row in rows] == [
        (row["calls"], row["call_bytes"]) for row in rows
    ]


@pytest.mark.parametrize("code", [1, 42])
def test_the_exit_code_is_passed_on(
    code: int, tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    done = iostrata("record", "--run", "r", "--", *java(program, tmp_path / "data", code))
    assert done.returncode == code
    assert f"run r failed, exit {code}" in done.stderr
    assert summary(iostrata, "r")["run"]["state"] == "failed"


def test_three_lines_at_the_end(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    done = iostrata("record", "--run", "r", "--", *java(program, tmp_path / "data"))
    lines = [line for line in done.stderr.splitlines() if line.startswith("iostrata: ")]
    assert len(lines) == 3
    assert lines[0] == "iostrata: traced 1/1 processes, 0 dropped"
    assert re.fullmatch(
        r"iostrata: run r ok, exit 0, \d+\.\d s, [\d ]+ events, [\d.]+ [KM]?i?B, 0 dropped",
        lines[1],
    )
    assert lines[2] == "iostrata: see it: iostrata summary r"


def test_a_command_without_java(iostrata: Iostrata) -> None:
    done = iostrata("record", "--run", "r", "--", "true")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[0] == (
        "iostrata: traced 0/0 processes, 0 dropped: no events: no Java process was seen, nor "
        "another one by --native"
    )
    said = iostrata("summary").stdout.splitlines()
    assert said[0] == "traced 0/0 processes, 0 dropped"
    assert said[-1] == "no events: no Java process was seen, nor another one by --native"


def test_a_command_of_any_bytes_and_length(iostrata: Iostrata) -> None:
    """Words that are no UTF-8, and more of them than a packet holds."""
    words = [os.fsdecode(b"stra\xdfe"), *map(str, range(60_000))]
    counts = "import os, sys; print(len(os.fsencode(''.join(sys.argv[1:]))))"
    said = iostrata("record", "--run", "r", "--", sys.executable, "-c", counts, *words)
    assert said.stdout.splitlines()[0] == str(sum(map(len, words)))
    (run,) = json.loads(iostrata("runs", "--json").stdout)
    assert run["command"][3:5] == ["stra\\udcdfe", "0"]
    assert run["command"][-1] == "59999"


def test_a_command_that_is_not_there(iostrata: Iostrata) -> None:
    done = iostrata("record", "--run", "r", "--", "no-such-command")
    assert done.returncode == 127
    assert done.stderr == "iostrata: no-such-command: not found · nothing was recorded\n"
    assert iostrata("summary", "r").returncode == 2


def test_the_time_of_a_child_is_found(tmp_path: Path, iostrata: Iostrata) -> None:
    """GIVEN a program that answers 20 lines in 2 s, and a JVM that waits for it."""
    source = Path(__file__).with_name("Children.java")
    subprocess.run(["javac", "-d", str(tmp_path), str(source)], check=True)
    iostrata(
        "record", "--private", "--run", "child", "--", "java", "-cp", str(tmp_path), "Children"
    )
    found = json.loads(iostrata("findings", "child", "--json").stdout)["findings"]
    (finding,) = (each for each in found if each["rule"] == "child-process")
    assert finding["seen"].startswith("1 process waited ")
    waited = next(each for each in finding["evidence"] if "longest readers" in each["what"])
    assert waited["value"] > 1.9e9
    assert "cpu-taken" not in [each["rule"] for each in found if not each["because"]]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_is_kept_and_marked(
    number: signal.Signals, code: int, tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    # GIVEN a program that has read its file and goes on for ever
    store = tmp_path / "store"
    command = [sys.executable, "-m", "iostrata", "record", "--run", "r", "--"]
    recorder = subprocess.Popen(
        [*command, *java(program, tmp_path / "data", -1)],
        env={**os.environ, "IOSTRATA_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert recorder.stdout is not None
    assert recorder.stdout.readline() == f"read {CALLS * SIZE}\n"
    # WHEN
    recorder.send_signal(number)
    _, said = recorder.communicate(timeout=180)
    # THEN
    assert recorder.returncode == code, said
    assert f"run r interrupted, exit {code}" in said
    assert summary(iostrata, "r")["run"]["state"] == "interrupted"
    assert on_target(store, "r", tmp_path / "data")["read"] == (CALLS + 1, CALLS * SIZE)


def test_a_recorder_that_is_killed_leaves_a_readable_run(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    store, run = tmp_path / "store", f"killed-{os.getpid()}"
    command = [sys.executable, "-m", "iostrata", "record", "--run", run, "--"]
    with subprocess.Popen(
        [*command, *java(program, tmp_path / "data", -1)],
        env={**os.environ, "IOSTRATA_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
    ) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == f"read {CALLS * SIZE}\n"
        (child,) = children(recorder.pid, "java")
        recorder.kill()
    os.kill(child, signal.SIGKILL)
    # THEN the collector finishes the run by itself
    progress = store / run / "progress.json"
    deadline = time.monotonic() + 180
    while json.loads(progress.read_text())["state"] != "done" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert on_target(store, run, tmp_path / "data")["read"] == (CALLS + 1, CALLS * SIZE)
    assert summary(iostrata, run)["run"]["state"] == "incomplete"
    for place in leftovers(run):  # the next recording does this, when it is a minute old
        shutil.rmtree(place)


def children(parent: int, name: str) -> list[int]:
    """Process ids of the children of `parent` that run the program `name`."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == parent and f"({name})" in stat:
            found.append(int(place.name))
    return found


def test_existing_java_tool_options_stay(tmp_path: Path, iostrata: Iostrata) -> None:
    script = tmp_path / "show.sh"
    script.write_text('echo "$JAVA_TOOL_OPTIONS"\n')
    done = iostrata("record", "--", "sh", str(script), JAVA_TOOL_OPTIONS="-Da=b")
    agent = r"-agentpath:\S+libiostrata_loader\.so=dir=\S+,run=\S+"
    assert re.fullmatch(rf"-Da=b {agent}\n", done.stdout)
    done = iostrata("record", "--", "sh", str(script), IOSTRATA_LOADER="javaagent")
    assert re.fullmatch(r"-javaagent:\S+iostrata-agent\.jar=dir=\S+,run=\S+\n", done.stdout)
