"""Native programs that call the kernel by numbers, or forbid themselves to call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.test_native import HERE, RECORD, by_iostrata, by_strace


def test_calls_by_number_are_what_the_kernel_saw(tmp_path: Path, iostrata: Iostrata) -> None:
    program, folder = str(tmp_path / "by_number"), tmp_path / "traced"
    folder.mkdir()
    subprocess.run(["gcc", "-O2", "-o", program, str(HERE / "by_number.c")], check=True)
    bare = subprocess.run([program, str(folder)], capture_output=True, text=True)
    assert bare.returncode == 5
    calls, moved = by_strace([program, str(folder)], folder, tmp_path / "strace")
    # WHEN
    done = iostrata(*RECORD, program, str(folder))
    # THEN output and exit code are its own, and its calls those that the kernel saw
    assert (done.returncode, done.stdout) == (5, bare.stdout)
    assert by_iostrata(iostrata, folder) == (calls, moved)
    # AND a call that says no place has that where the one before has ended
    sql = "SELECT \"offset\" AS at FROM calls WHERE op = 'read' AND bytes = 1000"
    assert json.loads(iostrata("query", sql, "--format", "json").stdout) == [{"at": 10}]
    # AND what it sent itself is there, and its end
    sent = (
        "SELECT op, sum(bytes)::BIGINT AS bytes FROM calls WHERE op IN ('send', 'receive') "
        "GROUP BY op"
    )
    rows = json.loads(iostrata("query", sent, "--format", "json").stdout)
    assert sorted(row["bytes"] for row in rows) == [60, 60]
    summary = json.loads(iostrata("summary", "r", "--json").stdout)
    assert summary["processes"]["traced"] == 1


@pytest.mark.parametrize("how", ["function", "number"])
def test_a_program_that_forbids_itself_system_calls(
    tmp_path: Path, iostrata: Iostrata, how: str
) -> None:
    """The kernel kills it for any call but read, write and exit: it is left alone from then on."""
    program, data = str(tmp_path / "forbids"), tmp_path / "data"
    source = str(HERE / "forbids.c")
    subprocess.run(["gcc", "-O2", "-pthread", "-o", program, source], check=True)
    bare = subprocess.run([program, str(data), how], check=False, capture_output=True, text=True)
    assert (bare.returncode, bare.stdout) == (0, "x" * 200)
    done = iostrata(*RECORD, program, str(data), how)
    assert (done.returncode, done.stdout) == (0, "x" * 200), done.stderr
    sql = f"SELECT op, sum(bytes)::BIGINT AS n FROM calls WHERE target = '{data}' GROUP BY op"
    rows = json.loads(iostrata("query", sql, "--format", "json").stdout)
    assert {row["op"]: row["n"] for row in rows}["write"] == 1000
