"""Jobs drawn from a fit: no line of the trace it was made of is among them."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp

from iostrata_lab.workload.swim.fit import Fit, GapModel, SizeFit
from iostrata_lab.workload.swim.plan import Popularity, shared
from iostrata_lab.workload.swim.trace import LONGEST_GAP, TraceJob

TRIES = 1000
HUGE = 700.0  # the logarithm of what is just a float


def drawn(fit: Fit, count: int, seed: int) -> list[TraceJob]:
    """`count` jobs; the same for the same seed, and the first of more.

    Gaps are of the model with the least AIC, in whole seconds like those of the traces. Sizes are
    lognormal up to the largest of the trace, each drawn alone: what they had to do with each other
    is not in the fit.
    """
    draw = random.Random(f"jobs {seed}")
    inputs = _paths(fit.popularity, count, seed)
    jobs: list[TraceJob] = []
    submit = 0
    for number in range(count):
        gap = _gap(fit.best, draw)
        submit += gap
        sizes = (_size(fit.input, draw), _size(fit.shuffle, draw), _size(fit.output, draw))
        jobs.append(TraceJob(f"drawn{number}", submit, gap, *sizes, path=inputs[number]))
    return jobs


def _paths(popularity: Popularity | None, count: int, seed: int) -> list[str]:
    """Of the inputs; '' where the fitted trace had none."""
    if popularity is None:
        return [""] * count
    return [f"input{number}" for number in shared(count, popularity, seed)]


def _gap(model: GapModel, draw: random.Random) -> int:
    """s, no longer than those that were fitted."""
    most = LONGEST_GAP + 1
    return int(_below(most, lambda: _GAPS[model.name](model.parameters, draw)))


def _hyperexponential(of: dict[str, float], draw: random.Random) -> float:
    mean = of["mean1"] if draw.random() < of["p"] else of["mean2"]
    return draw.expovariate(1 / mean)


_GAPS = {
    "exponential": lambda of, draw: draw.expovariate(1 / of["mean"]),
    "lognormal": lambda of, draw: draw.lognormvariate(of["mu"], of["sigma"]),
    "weibull": lambda of, draw: draw.weibullvariate(of["scale"], of["shape"]),
    "gamma": lambda of, draw: draw.gammavariate(of["shape"], of["scale"]),
    "hyperexponential": _hyperexponential,
}


def _size(fit: SizeFit, draw: random.Random) -> int:
    """Bytes: at least 1 where it is not 0, so that a job with a shuffle keeps it."""
    if draw.random() < fit.zero:
        return 0
    size = _below(fit.most + 1, lambda: exp(min(HUGE, draw.gauss(fit.mu, fit.sigma))))
    return max(1, int(size))


def _below(bound: int, draw: Callable[[], float]) -> float:
    """The first that is below; just below, when a fit hardly allows for it."""
    values = (draw() for _ in range(TRIES))
    return next((value for value in values if value < bound), bound - 1)
