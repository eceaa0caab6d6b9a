"""Student's t, and the bounds of estimates that are made of drawn requests.

SciPy does the work; it is imported where it is needed, so that a command that needs none starts
quickly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

# Of intervals that miss the truth, and of false alarms of a test.
LEVEL = 0.05
# Requests that an interval needs: with fewer those of heavy-tailed requests are too short. The rule
# must not look at what was drawn: samples without the tail are those that look regular.
# A quantile needs half of them on either side.
LEAST = 100
_MANY = 1e9  # degrees of freedom: where nothing scatters


class Spread(NamedTuple):
    """What the estimate of a total scatters by.

    `requests`: how many were drawn; `variance` of the total; `squares`: the sum of the squares of
    the terms of the variance, which says how many requests it really comes from.
    """

    requests: int
    variance: float
    squares: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom: requests that are not alike are worth fewer."""
        return max(self.variance**2 / self.squares - 1, 1.0) if self.squares else _MANY

    @property
    def deviation(self) -> float:
        """Of the total; for at least two requests."""
        return math.sqrt(self.variance * self.requests / (self.requests - 1))


def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """The t whose tails, both together, hold `level`."""
    from scipy.special import stdtrit

    return float(-stdtrit(freedom, level / 2))


def t_tails(t: float, freedom: float) -> float:
    """Probability that Student's t is at least as far from 0."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def half_widths(spreads: Sequence[Spread]) -> list[float | None]:
    """Half the width of the interval of each total; None where too few requests were drawn."""
    import numpy as np
    from scipy.special import stdtrit

    if not spreads:
        return []
    t = -stdtrit(np.array([spread.freedom for spread in spreads]), LEVEL / 2)
    return [
        None
        if 0 < spread.requests < LEAST
        else float(times) * spread.deviation
        if spread.variance
        else 0.0
        for times, spread in zip(t, spreads, strict=True)
    ]


def share_bounds(at: float, worth: float, freedom: float) -> tuple[float, float]:
    """Wilson's interval of the share `at` (0 to 1) of as many independent values as `worth`."""
    t = t_quantile(freedom)
    middle = (at + t * t / (2 * worth)) / (1 + t * t / worth)
    half = t * math.sqrt(at * (1 - at) / worth + t * t / (4 * worth * worth)) / (1 + t * t / worth)
    return middle - half, middle + half
