"""What of a large matrix runs today: all in `make soak`, in `make test` a few that change daily.

Tests of one matrix are marked `drawn(NAME, COUNT)`: of all with that name COUNT are run, which ones
the seed says. Of cases marked `one_of(PARAMETER)` that differ in that parameter only, one is run.
Of cases marked `in_turn(NAME, NAME...)` those of one name are run, the same in all files, so that
what they share is started once. A test marked `soak` is run by `make soak` only. The seed is
today's date, or IOSTRATA_TEST_SEED; it is printed, with what it chose and with the number of tests
left out.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

SOAK = "SOAK" in os.environ
SEED = os.environ.setdefault("IOSTRATA_TEST_SEED", time.strftime("%Y%m%d"))  # workers inherit it


@dataclass(frozen=True)
class Chosen:
    """The tests that run, those that are left to `make soak`, and those that the seed chose."""

    items: list[pytest.Item]
    left: list[pytest.Item]
    drawn: list[str]


def choose(items: Iterable[pytest.Item], seed: str = SEED, soak: bool = SOAK) -> Chosen:
    """Keeps the order. A matrix of which no more than COUNT was collected runs whole."""
    items = list(items)
    if soak:
        return Chosen(items, [], [])
    matrices: dict[tuple[str, int], list[str]] = {}
    for item in items:
        if matrix := _matrix(item):
            matrices.setdefault(matrix, []).append(item.nodeid)
    drawn = {
        nodeid
        for (name, count), cases in matrices.items()
        for nodeid in random.Random(f"{seed} {name}").sample(cases, min(count, len(cases)))
    }
    wanted = [
        item
        for item in items
        if (item.nodeid in drawn if _matrix(item) else not item.get_closest_marker("soak"))
    ]
    turns = {item.nodeid: _has_its_turn(item, seed) for item in wanted}
    wanted = [item for item in wanted if turns[item.nodeid] is not False]
    drawn |= {nodeid for nodeid, has_it in turns.items() if has_it}
    kept = set(wanted)
    return Chosen(wanted, [item for item in items if item not in kept], sorted(drawn))


def draw(cases: Iterable[str], count: int, name: str) -> list[str]:
    """Of the cases that one test goes through COUNT, which change daily; in `make soak` all."""
    cases = list(cases)
    if SOAK:
        return cases
    drawn = random.Random(f"{SEED} {name}").sample(cases, min(count, len(cases)))
    return [case for case in cases if case in drawn]


def _has_its_turn(item: pytest.Item, seed: str) -> bool | None:
    """Whether it is a case of the name that the seed chose; `None`: of no name."""
    mark = item.get_closest_marker("in_turn")
    case = item.callspec.id.split("-") if hasattr(item, "callspec") else []
    if mark is None or not set(case) & set(mark.args):
        return None
    return random.Random(f"{seed} {mark.args}").choice(mark.args) in case


def _matrix(item: pytest.Item) -> tuple[str, int] | None:
    """The name of the matrix that it is a case of, and how many of its cases run."""
    if mark := item.get_closest_marker("drawn"):
        return mark.args[0], mark.args[1]
    mark = item.get_closest_marker("one_of")
    case = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    if mark is None or mark.args[0] not in case:
        return None
    del case[mark.args[0]]
    return f"{item.nodeid.partition('[')[0]} {case}", 1


DRAWN = pytest.StashKey[tuple[int, list[str]]]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the larger part of each matrix to `make soak`, and counts it."""
    chosen = choose(items)
    items[:] = chosen.items
    config.hook.pytest_deselected(items=chosen.left)
    config.stash[DRAWN] = (len(chosen.left), chosen.drawn)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["drawn"] = session.config.stash.get(DRAWN, (0, []))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker has collected the same: what one of them says is true of all."""
    left, drawn = getattr(node, "workeroutput", {}).get("drawn", (0, []))
    node.config.stash[DRAWN] = (left, list(drawn))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left, drawn = config.stash.get(DRAWN, (0, []))
    if not left:
        return
    terminalreporter.write_line(
        f"{left} tests are left to `make soak`. Of their matrices the seed {SEED} chose"
        f" {len(drawn)} (IOSTRATA_TEST_SEED repeats the choice):"
    )
    for nodeid in drawn:
        terminalreporter.write_line(f"  {nodeid}")
