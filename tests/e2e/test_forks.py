"""Native code in a JVM that forks and calls no exec: the child is nobody's, the parent is exact."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import JDKS, java_home
from tests.e2e.truth import Run

CALLS, SIZE = 200, 16
LONG_ENOUGH = 4_000  # ms: a young process may still become a program by exec


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What forks."""
    built = tmp_path_factory.mktemp("forks") / "libforks.so"
    headers = java_home("17") / "include"
    source = Path(__file__).with_name("forks.c")
    compiler = ["cc", "-shared", "-fPIC", f"-I{headers}", f"-I{headers}/linux"]
    subprocess.run([*compiler, "-o", str(built), str(source)], check=True)
    return built


@pytest.mark.one_of("version")
@pytest.mark.parametrize("version", JDKS)
@pytest.mark.parametrize("loader", ["native", "javaagent"])
def test_a_child_without_exec(
    version: str, loader: str, tmp_path: Path, program: Path, library: Path, iostrata: Iostrata
) -> None:
    """GIVEN a child that reads by the same woven methods THEN none of its calls is its parent's,
    and it is named as what was not traced."""
    file = tmp_path / "data"
    file.write_bytes(bytes(7 * CALLS * SIZE))
    # compiling, the child would wait for a lock of the JVM's that another thread may have had
    java = [str(java_home(version) / "bin/java"), "-Xint", "-cp", str(program), "Forks"]
    words = [*java, str(library), str(file), str(CALLS), str(LONG_ENOUGH)]
    # WHEN
    done = iostrata("record", "--run", "r", "--", *words, IOSTRATA_LOADER=loader)
    # THEN
    assert (done.returncode, done.stdout) == (0, "child 0\n")
    run = Run(tmp_path / "store", "r")
    read = "FROM events WHERE layer = 'java' AND op = 'read' AND category = 'file'"
    calls = run.rows(
        f"SELECT count(*), sum(bytes)::BIGINT {read} AND target = '{file}' AND kind = 'call'"
    )
    assert calls == [(2 * CALLS, 2 * CALLS * SIZE)]
    assert run.one(f"SELECT sum(bytes)::BIGINT {read} AND kind = 'sum'") == 2 * CALLS * SIZE
    assert run.losses() == dict.fromkeys(run.losses(), 0)
    # AND
    untraced = run.rows("SELECT reason FROM processes WHERE NOT traced")
    assert untraced == [("a child of a traced JVM that called no exec",)]
