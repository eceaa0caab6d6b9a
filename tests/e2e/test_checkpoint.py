"""The workload `checkpoint`: what its ranks, or IOR, say they have saved is what is recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata

RANKS, CHECKPOINTS, BLOCK, TRANSFER, SEGMENTS = 3, 2, 1 << 18, 1 << 16, 2
SIZES = {"block": BLOCK, "transfer": TRANSFER, "segments": SEGMENTS}
SET = {"ranks": RANKS, "checkpoints": CHECKPOINTS, **SIZES, "restart": "true"}
LAYER = {"posix": "posix", "mpiio": "fs"}


def run(iostrata: Iostrata, **values: Any) -> dict[str, Any]:
    words = [
        word for item in {**SET, **values}.items() for word in ("--set", "=".join(map(str, item)))
    ]
    done = iostrata("workload", "run", "checkpoint", *words, "--record", "--run", "r", "--json")
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)["result"]
    return said


def recorded(iostrata: Iostrata, layer: str, op: str) -> list[dict[str, Any]]:
    """Calls and bytes of each rank and file."""
    sql = (
        "SELECT task, target, count(*) AS calls, sum(bytes)::BIGINT AS bytes, "
        f'count(DISTINCT "offset") AS places, min("offset") AS first FROM calls '
        f"WHERE op = '{op}' AND layer = '{layer}' AND target LIKE '%/checkpoint-%' "
        "GROUP BY task, target"
    )
    done = iostrata("query", sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


@pytest.mark.parametrize("api", ["posix", "mpiio"])
@pytest.mark.parametrize("pattern", ["n-n", "segmented", "strided"])
def test_each_write_of_each_rank(pattern: str, api: str, iostrata: Iostrata) -> None:
    said = run(iostrata, pattern=pattern, api=api, program="mpi4py")
    assert said["program"] == "mpi4py"
    each = {"calls": BLOCK // TRANSFER * SEGMENTS, "bytes": BLOCK * SEGMENTS}
    rows = recorded(iostrata, LAYER[api], "write")
    assert len(rows) == RANKS * CHECKPOINTS
    assert {(row["calls"], row["bytes"], row["places"]) for row in rows} == {
        (each["calls"], each["bytes"], each["calls"])
    }
    assert [(row["bytes"], row["writes"]) for row in said["checkpoints"]] == [
        (RANKS * each["bytes"], RANKS * each["calls"])
    ] * CHECKPOINTS
    step = {"n-n": 0, "segmented": BLOCK, "strided": TRANSFER}[pattern]
    begins = {(row["task"], row["first"]) for row in rows}
    assert begins == {(f"rank {rank}", rank * step) for rank in range(RANKS)}
    # The restart reads the last one only.
    assert sum(row["bytes"] for row in recorded(iostrata, LAYER[api], "read")) == (
        RANKS * each["bytes"]
    )


@pytest.mark.parametrize("pattern", ["n-n", "segmented", "strided"])
def test_ior_says_the_same(pattern: str, iostrata: Iostrata) -> None:
    if shutil.which("ior") is None:
        pytest.skip("IOR is not on the PATH: it is built from its sources, docs/guide/workloads.md")
    said = run(iostrata, pattern=pattern, program="ior")
    assert said["program"] == "ior"
    saved = RANKS * BLOCK * SEGMENTS
    assert [row["bytes"] for row in said["checkpoints"]] == [saved] * CHECKPOINTS
    done = iostrata(
        "query",
        (
            "SELECT count(*) AS calls, sum(bytes)::BIGINT AS bytes FROM calls WHERE op = 'write' "
            "AND layer = 'posix' AND target LIKE '%/checkpoint.%'"
        ),
        "--format",
        "json",
    )
    calls = sum(row["writes"] for row in said["checkpoints"])
    assert json.loads(done.stdout) == [{"calls": calls, "bytes": saved * CHECKPOINTS}]


def test_nothing_is_left(tmp_path: Path, iostrata: Iostrata) -> None:
    before = sorted(tmp_path.iterdir())
    folder = tmp_path / "kept"
    done = iostrata("workload", "run", "checkpoint", "--folder", str(folder), "--set", "block=10")
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "iostrata: block=10 is no multiple of transfer=1048576 · say one that is, in bytes"
    )
    assert sorted(tmp_path.iterdir()) == before
