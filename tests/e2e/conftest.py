"""What end-to-end tests share: the built agent and collector, and the list of verified points.

A test that asks for `verifies` states how often each point was called in a run. The list of points
with the tests that verify them stands in src/iostrata/schema/verified.json; `make verified` writes
it, and every other run of the tests fails when it lacks a point.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from tests.e2e import commands
from tests.e2e.labs import Labs, group_of, in_order
from tests.e2e.serving import Node, node
from tests.e2e.truth import Run

from iostrata.artifacts import agent_jar, native_binary, native_loader
from iostrata.errors import UserError
from iostrata.schema.points import POINTS
from iostrata.schema.verified import PATH, point_key, verified_points

# Most tests look at individual calls; those that are about the budget ask for one.
os.environ["IOSTRATA_BUDGET"] = "off"
WRITE = os.environ.get("VERIFIED_WRITE") == "1"
fired_in: dict[str, set[str]] = {}
LABS = pytest.StashKey[Labs]()


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Without agent and collector there is nothing to test: a failure, not a skip."""
    try:
        agent_jar()
        native_binary()
        native_loader()
    except UserError as error:
        pytest.exit(f"{error.message}: {error.remedy}", returncode=1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that share a lab follow each other; xdist then takes them as one."""
    items[:] = in_order(items)


@pytest.fixture(scope="session")
def labs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Labs]:
    """The lab that files share."""
    found = request.config.stash[LABS] = Labs(tmp_path_factory)
    yield found
    found.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Behind the last file of a group nobody wants its lab."""
    result = yield
    if nextitem and group_of(item) != group_of(nextitem) and LABS in item.config.stash:
        item.config.stash[LABS].close()
    return result


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class path with the Java programs of the tests, compiled for Java 8."""
    folder = tmp_path_factory.mktemp("classes")
    names = (
        "Appends",
        "Busy",
        "Closes",
        "Crowd",
        "EveryFileCall",
        "EverySocketCall",
        "Forks",
        "Idles",
        "Levels",
        "Loads",
        "ManyFiles",
        "Moves",
        "Paced",
        "Reads",
        "ReadsOfAllKinds",
        "Rereads",
        "Shares",
        "Starts",
        "Syncs",
    )
    sources = [str(Path(__file__).with_name(f"{name}.java")) for name in names]
    compiler = ["javac", "--release", "8", "-Xlint:-options"]
    subprocess.run([*compiler, "-d", str(folder), *sources], check=True)
    return folder


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class path with the program that does what it is told (serving.py)."""
    folder = tmp_path_factory.mktemp("classes")
    source = Path(__file__).with_name("Serves.java")
    compiler = ["javac", "--release", "8", "-Xlint:-options"]
    subprocess.run([*compiler, "-d", str(folder), str(source)], check=True)
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Node]:
    """A collector of the test's own."""
    with node(tmp_path / "node") as one:
        yield one


@pytest.fixture
def reachable(program: Path) -> Iterator[Path]:
    """The Java programs where every user can read them, and a folder to write to."""
    folder = Path(f"/var/tmp/iostrata-shared-{os.getpid()}")
    subprocess.run(["cp", "-r", str(program), str(folder)], check=True)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o777)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    yield folder
    subprocess.run(["rm", "-r", str(folder)], check=True)


@dataclass(frozen=True)
class Between:
    """A count that is only bounded, by what the test knows; the comment beside it says why."""

    least: int
    most: int = 2**62


Count = int | Between


class Verifies(Protocol):
    """Takes a run, and how often each point (by id) must have been called in it.

    `where` narrows down the rows that count, say to one role.
    """

    def __call__(self, run: Run, expected: Mapping[int, Count], where: str = "true") -> None: ...


@pytest.fixture
def verifies(request: pytest.FixtureRequest) -> Verifies:
    """Compares, and notes the test as one that verifies these points."""
    path = request.path.relative_to(request.config.rootpath)
    test = f"{path}::{request.node.originalname}"

    def check(run: Run, expected: Mapping[int, Count], where: str = "true") -> None:
        query = "SELECT point, sum(count)::BIGINT FROM events WHERE kind = 'sum' AND "
        counts = dict(run.rows(f"{query} {where} GROUP BY point"))
        keys = {point.id: point_key(point) for point in POINTS}
        wrong = []
        for point, want in expected.items():
            bounds = want if isinstance(want, Between) else Between(want, want)
            got = counts.get(point, 0)
            if not bounds.least <= got <= bounds.most:
                wrong.append(f"{point} {keys[point]}: {got} calls, expected {want}")
        assert not wrong, "\n".join(wrong)
        fired = {keys[point] for point, want in expected.items() if want != 0}
        fired_in.setdefault(test, set()).update(fired)
        if not WRITE:
            listed = {key for key, tests in verified_points().items() if test in tests}
            assert fired <= listed, "not in verified.json: run `make verified`"

    return check


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


def _end(said: str, most: int = 1500) -> str:
    """The last of what a command said: a failure's message must not drown in it."""
    return said if len(said) <= most else f"... {said[-most:]}"


@pytest.fixture
def iostrata(tmp_path: Path) -> Iostrata:
    """Runs a command of iostrata on the store `tmp_path/store`."""

    def run(
        *arguments: str, timeout: float = 180, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        own = {**os.environ, "IOSTRATA_STORE": str(tmp_path / "store"), **environment}
        done = commands.run(arguments, own, tmp_path, timeout)
        print(f"$ iostrata {' '.join(arguments)}\n{_end(done.stdout)}{_end(done.stderr)}")
        return done

    return run
