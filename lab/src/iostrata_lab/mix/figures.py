"""What trials say: slowdowns with intervals, and whether together is faster than in turn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

from iostrata.analyse.changes import change
from iostrata.analyse.intervals import t_quantile
from iostrata.records import Count, Record
from iostrata_lab.mix.together import Repetition

LEAST = 2  # values of which there is an interval


class Ratio(Record, frozen=True):
    """A quotient of geometric means, with its interval of 95 %; none where there are too few
    `trials` (of the side that has fewer), or they are all alike.
    """

    value: float
    low: float | None
    high: float | None
    trials: Count

    @property
    def says(self) -> int:
        """1: it is above 1, -1: below, 0: nobody knows."""
        if self.low is None or self.high is None:
            return 0
        return 1 if self.low > 1 else -1 if self.high < 1 else 0


def ratio(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Of times, none of them zero, each of a trial of its own: by Welch's t on their logarithms."""
    found, trials = change(below, above), min(len(above), len(below))
    value = found.second / found.first
    if found.low is None or found.high is None or found.low == found.high:
        return Ratio(value, None, None, trials)
    return Ratio(value, 1 + found.low, 1 + found.high, trials)


def of_pairs(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Of quotients, each of one repeat: by Student's t on their logarithms."""
    logs = [math.log(above / below) for above, below in pairs]
    mean, trials = fmean(logs), len(logs)
    error = stdev(logs) / math.sqrt(trials) if trials >= LEAST else 0.0
    if error == 0:
        return Ratio(math.exp(mean), None, None, trials)
    off = t_quantile(trials - 1) * error
    return Ratio(math.exp(mean), math.exp(mean - off), math.exp(mean + off), trials)


def in_turn(times: Iterable[tuple[float, float]]) -> float:
    """s of all together, beside those of the same work one after the other. `times`: s alone and
    together of each; in a second together, a program does what takes it `alone / together` s alone.
    """
    return 1 / sum(alone / together for alone, together in times)


def overlap(name: str, sides: Mapping[str, Sequence[Repetition]]) -> float:
    """Part of the time of a program's first repetition in which all others ran, 0 to 1."""
    first = sides[name][0]
    shared = [
        sum(max(0.0, min(first.end, one.end) - max(first.begin, one.begin)) for one in others)
        for other, others in sides.items()
        if other != name
    ]
    return min(shared, default=0.0) / first.seconds if first.seconds else 0.0
