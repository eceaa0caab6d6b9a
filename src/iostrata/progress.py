"""Long work says which step of it begins; whoever runs it may show that."""

from __future__ import annotations

from collections.abc import Callable

# Is given the name of the step that begins.
Step = Callable[[str], None]

# How long a step takes on a large run, where that is more than 1: seconds of 100 M calls.
COSTS = {
    "sums": 6,
    "latencies": 5,
    "targets": 7,
    "many-small-files": 6,
    "call tree": 60,
    "critical path": 25,
}


def unseen(_: str) -> None:
    """Shows nothing."""


def cost(step: str) -> int:
    """What part of the work a step is, relative to others."""
    return COSTS.get(step, 1)
