"""What end-to-end tests share: the built agent and collector, and the list of verified points.

A test that asks for `verifies` and passes a run to it states that every point which fired there
is right. The list stands in src/iostrata/schema/verified.json; `make verified` writes it, and
every other run of the tests fails when a point listed for a test did not fire in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.record.artifacts import agent_jar, native_binary
from iostrata.schema.points import POINTS
from iostrata.schema.verified import PATH, point_key, verified_points
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

WRITE = os.environ.get("VERIFIED_WRITE") == "1"
fired_in: dict[str, set[str]] = {}


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Without agent and collector there is nothing to test: a failure, not a skip."""
    try:
        agent_jar()
        native_binary()
    except UserError as error:
        pytest.exit(f"{error.message}: {error.remedy}", returncode=1)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class path with the Java programs of the tests, compiled for Java 8."""
    folder = tmp_path_factory.mktemp("classes")
    names = ("Appends", "EveryFileCall", "ManyFiles", "Reads")
    sources = [str(Path(__file__).with_name(f"{name}.java")) for name in names]
    compiler = ["javac", "--release", "8", "-Xlint:-options"]
    subprocess.run([*compiler, "-d", str(folder), *sources], check=True)
    return folder


@pytest.fixture
def verifies(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Takes store and run: the points that fired there are verified by this test."""
    path = request.path.relative_to(request.config.rootpath)
    test = f"{path}::{request.node.originalname}"

    def note(store: Path, run: str) -> None:
        with OpenedRun(find_run(store, run)) as opened:
            rows = opened.rows("SELECT DISTINCT point FROM sums")
        ids = {row["point"] for row in rows}
        keys = {point_key(point) for point in POINTS if point.id in ids}
        # Of a test with parameters, what fired with each of them.
        fired_in[test] = fired_in.get(test, keys) & keys
        if not WRITE:
            listed = {key for key, tests in verified_points().items() if test in tests}
            assert not listed - keys, f"points of {test} that no longer fire"

    return note


@pytest.fixture(scope="session", autouse=True)
def _write_verified() -> Iterator[None]:
    yield
    if not WRITE:
        return
    known = {point_key(point) for point in POINTS}
    listed = {
        key: {test for test in tests if test not in fired_in}
        for key, tests in verified_points().items()
        if key in known
    }
    for test, keys in fired_in.items():
        for key in keys:
            listed.setdefault(key, set()).add(test)
    kept = {key: sorted(tests) for key, tests in sorted(listed.items()) if tests}
    PATH.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


Iostrata = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def iostrata(tmp_path: Path) -> Iostrata:
    """Runs a command of iostrata on the store `tmp_path/store`."""

    def run(
        *arguments: str, timeout: float = 60, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "iostrata", *arguments],
            env={**os.environ, "IOSTRATA_STORE": str(tmp_path / "store"), **environment},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        print(f"$ iostrata {' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done

    return run
