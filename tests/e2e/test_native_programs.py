"""Native programs that count what they do themselves: what was recorded is what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata

RECORD = ("record", "--native", "--run", "r", "--")
SIZE = 8 << 20
BLOCK = 4096


Totals = dict[tuple[str | None, str], list[int]]


def of_file(iostrata: Iostrata, target: Path) -> Totals:
    """Calls and bytes of reads and writes of a file, by task: of calls that were recorded
    individually, and of the sums of all others.
    """
    sql = (
        "SELECT task, op, sum(calls)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM ("
        "SELECT task, op, target, 1 AS calls, bytes FROM calls WHERE layer = 'posix' UNION ALL "
        "SELECT task, op, target, count AS calls, bytes FROM sums WHERE layer = 'posix') "
        f"WHERE target = '{target}' AND op IN ('read', 'write') GROUP BY task, op"
    )
    done = iostrata("query", sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    return {(row["task"], row["op"]): [row["calls"], row["bytes"]] for row in rows}


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: apt-get install fio")
@pytest.mark.parametrize("engine", ["sync", "psync", "pvsync", "pvsync2", "libaio", "posixaio"])
@pytest.mark.parametrize("jobs", ["processes", "threads"])
def test_fio(jobs: str, engine: str, tmp_path: Path, iostrata: Iostrata) -> None:
    """Two jobs that read and write one file at random."""
    target = tmp_path / "data"
    target.write_bytes(bytes(SIZE))
    options = {
        "name": "mixed",
        "filename": target,
        "size": SIZE,
        "bs": BLOCK,
        "rw": "randrw",
        "ioengine": engine,
        "numjobs": 2,
        "group_reporting": 1,
        "fallocate": "none",
        "output-format": "json",
        "output": tmp_path / "said.json",
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    done = iostrata(*RECORD, "fio", *words, *(["--thread"] if jobs == "threads" else []))
    assert done.returncode == 0, done.stderr
    (said,) = json.loads((tmp_path / "said.json").read_text())["jobs"]
    expected: Totals = {
        (None, op): [said[op]["total_ios"], said[op]["io_bytes"]] for op in ("read", "write")
    }
    assert sum(moved for _, moved in expected.values()) == 2 * SIZE
    assert of_file(iostrata, target) == expected
