"""Which trials there are, in which order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

NAMES = "ABCDEFGH"  # of programs
HERE = ""  # no lab: this machine


@dataclass(frozen=True)
class Trial:
    """One of a repeat: a program alone, or all of them at the same time."""

    repeat: int  # from 1
    programs: str  # their names: A, B, AB
    lab: str

    @property
    def key(self) -> str:
        """`moosefs-2-AB`: under which it is kept, and its run is found."""
        return f"{self.lab or 'here'}-{self.repeat}-{self.programs}"


def trials(repeats: int, labs: Sequence[str], programs: int, seed: int) -> list[Trial]:
    """Each repeat has each program alone and all together on each lab, in an order of its own: what
    drifts on a machine meets all of them alike.
    """
    chance = random.Random(seed)
    names = NAMES[:programs]
    found = []
    for repeat in range(1, repeats + 1):
        one = [Trial(repeat, kind, lab) for lab in labs or [HERE] for kind in (*names, names)]
        chance.shuffle(one)
        found += one
    return found
