"""Long work says which step of it begins; whoever runs it may show that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Step(Protocol):
    """Is told the step that runs, and which part of it is done, where that is known."""

    def __call__(self, name: str, part: float = 0.0) -> None: ...


# How long a step takes on a large run, where that is more than 1: seconds of 100 M calls.
COSTS = {
    "sums": 6,
    "latencies": 5,
    "targets": 7,
    "many-small-files": 6,
    "call tree": 60,
    "critical path": 25,
}


def unseen(name: str, part: float = 0.0) -> None:
    """Shows nothing."""


def within(step: Step, name: str) -> Callable[[float], None]:
    """Begins a step; what it gives back is told which part is done, from 0 to 1."""
    step(name)
    return lambda part: step(name, part)


def cost(step: str) -> int:
    """What part of the work a step is, relative to others."""
    return COSTS.get(step, 1)
