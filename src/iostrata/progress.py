"""How long work says which of its steps runs, so that whoever waits may see it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is called when a step of long work begins, and then with the part of it that is finished
    (0 to 1), where that is known.
    """

    def __call__(self, step: str, part: float = 0.0) -> None: ...


# How long a step takes on a large run, where that is more than 1: seconds of 100 M calls.
COSTS = {
    "sums": 6,
    "latencies": 5,
    "targets": 7,
    "many-small-files": 6,
    "call tree": 60,
    "critical path": 25,
}


def silent(step: str, part: float = 0.0) -> None:
    """Shows nothing."""


def cost(step: str) -> int:
    """How much of the work a step is, relative to others."""
    return COSTS.get(step, 1)
