"""Which trials there are, in which order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

NAMES = "ABCDEFGH"  # of programs
HERE = ""  # no lab: this machine


@dataclass(frozen=True)
class Trial:
    """One of a repeat: a program alone, or all of them at the same time; `bare`: not recorded,
    beside one that is.
    """

    repeat: int  # from 1
    programs: str  # their names: A, B, AB
    lab: str
    bare: bool = False

    @property
    def key(self) -> str:
        """`moosefs-2-AB`: under which it is kept, and its run is found."""
        return f"{self.lab or 'here'}-{self.repeat}-{self.programs}" + "-bare" * self.bare

    @property
    def said(self) -> str:
        """`moosefs, repeat 2: A and B`."""
        who = " and ".join(self.programs) + " alone" * (len(self.programs) == 1)
        return f"{self.lab or 'here'}, repeat {self.repeat}: {who}" + ", untraced" * self.bare


def trials(
    repeats: int, labs: Sequence[str], kinds: Sequence[str], seed: int, cost: bool = False
) -> list[Trial]:
    """Each repeat has each of `kinds` (`A`, `AB`) on each lab, in an order of its own: what drifts
    on a machine meets all of them alike. With `cost`, each is also bare.
    """
    chance = random.Random(seed)
    found = []
    for repeat in range(1, repeats + 1):
        one = [
            Trial(repeat, kind, lab, bare)
            for lab in labs or [HERE]
            for kind in kinds
            for bare in (False, True)[: 1 + cost]
        ]
        chance.shuffle(one)
        found += one
    return found
