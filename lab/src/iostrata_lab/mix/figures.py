"""What trials say: slowdowns with intervals, and whether together is faster than in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from scipy import stats

from iostrata.records import Count, Record
from iostrata_lab.mix.together import Repetition

LEVEL = 0.95  # of intervals
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
    logs = [[math.log(one) for one in side] for side in (above, below)]
    means = [statistics.fmean(side) for side in logs]
    spread = [statistics.variance(side) / len(side) if len(side) >= LEAST else 0 for side in logs]
    least, error = min(map(len, logs)), math.sqrt(sum(spread))
    if least < LEAST or error == 0:
        return Ratio(math.exp(means[0] - means[1]), None, None, least)
    parts = zip(spread, logs, strict=True)
    freedom = error**4 / sum(part**2 / (len(side) - 1) for part, side in parts)
    return _around(means[0] - means[1], error, freedom, least)


def of_pairs(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Of quotients, each of one repeat: by Student's t on their logarithms."""
    logs = [math.log(above / below) for above, below in pairs]
    mean = statistics.fmean(logs)
    error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) >= LEAST else 0.0
    if error == 0:
        return Ratio(math.exp(mean), None, None, len(logs))
    return _around(mean, error, len(logs) - 1, len(logs))


def _around(mean: float, error: float, freedom: float, trials: int) -> Ratio:
    off = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    return Ratio(math.exp(mean), math.exp(mean - off), math.exp(mean + off), trials)


def overlap(name: str, sides: Mapping[str, Sequence[Repetition]]) -> float:
    """Part of the time of a program's first repetition in which all others ran, 0 to 1."""
    first = sides[name][0]
    shared = [
        sum(max(0.0, min(first.end, one.end) - max(first.begin, one.begin)) for one in others)
        for other, others in sides.items()
        if other != name
    ]
    return min(shared, default=0.0) / first.seconds if first.seconds else 0.0
