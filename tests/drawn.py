"""What of a large matrix runs today: all in `make soak`, in `make test` a few that change daily.

Tests of one matrix are marked `drawn(NAME, COUNT)`: of all with that name COUNT are run, which ones
the seed says. A test marked `soak` is run by `make soak` only. The seed is today's date, or
IOSTRATA_TEST_SEED; it is printed, with what it chose and with the number of tests left out.
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
        mark = item.get_closest_marker("drawn")
        if mark:
            matrices.setdefault(mark.args, []).append(item.nodeid)
    drawn = {
        nodeid
        for (name, count), of_it in matrices.items()
        for nodeid in random.Random(f"{seed} {name}").sample(of_it, min(count, len(of_it)))
    }
    wanted = [item for item in items if _runs(item, drawn)]
    kept = set(wanted)
    return Chosen(wanted, [item for item in items if item not in kept], sorted(drawn))


def _runs(item: pytest.Item, drawn: set[str]) -> bool:
    if item.get_closest_marker("drawn"):
        return item.nodeid in drawn
    return item.get_closest_marker("soak") is None


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
        f"{left} tests are left to `make soak`; of {len(drawn)} the seed {SEED} said that they run"
        " today (IOSTRATA_TEST_SEED repeats them):"
    )
    for nodeid in drawn:
        terminalreporter.write_line(f"  {nodeid}")
