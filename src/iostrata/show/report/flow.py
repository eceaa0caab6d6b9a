"""From what was asked for down to the disks: the bytes of each step."""

from __future__ import annotations

from collections.abc import Iterable

from iostrata.analyse.amplification import STEPS, Amplification, Transfer
from iostrata.show.report.model import Flow, Step


def flow(counted: Iterable[Amplification]) -> list[Flow]:
    """Every direction that has bytes, with all its steps.

    Those of a step that nothing was counted at, by layers that were not traced in such processes
    or calls that do not tell, are null: that is not 0.
    """
    known = {(row.direction, row.step): row for row in counted}
    directions = {direction for direction, _ in known}
    return [
        Flow(
            direction,
            [_step(step, known.get((direction, place))) for place, step in enumerate(transfers)],
        )
        for direction, transfers in STEPS.items()
        if direction in directions
    ]


def _step(step: Transfer, row: Amplification | None) -> Step:
    moved, factor = (row.bytes, row.factor) if row else (None, None)
    return Step(step.title, step.layer, moved, factor)
