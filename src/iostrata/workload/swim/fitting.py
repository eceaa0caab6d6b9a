"""Fits models to a trace. What draws from a fit does not need scipy, this does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iostrata.errors import UserError
from iostrata.workload.swim.fit import Fit, GapModel, popularity_of, size_fit
from iostrata.workload.swim.trace import LONGEST_GAP, TraceJob

if TYPE_CHECKING:
    import numpy as np

FEWEST = 20  # gaps: of fewer, any model fits
ROUNDS = 5000  # of EM at the most
SETTLED = 1e-9  # a gain of the mean log-likelihood that is none


def fitted(name: str, jobs: Sequence[TraceJob]) -> Fit:
    """The fit of a trace; raises UserError for too few jobs, and without scipy."""
    if find_spec("scipy") is None:
        raise UserError("fits need scipy, which is not installed", "pip install 'iostrata[fit]'")
    gaps = [job.gap for job in jobs if job.gap <= LONGEST_GAP]
    if len(gaps) < FEWEST:
        raise UserError(
            f"{name}: {len(gaps)} gaps of up to {LONGEST_GAP} s", f"{FEWEST} are needed"
        )
    return Fit(
        trace=name,
        jobs=len(jobs),
        gaps=gap_models(gaps),
        input=size_fit([job.input for job in jobs]),
        shuffle=size_fit([job.shuffle for job in jobs]),
        output=size_fit([job.output for job in jobs]),
        popularity=popularity_of(jobs),
    )


def gap_models(gaps: Sequence[int]) -> tuple[GapModel, ...]:
    """All models of gaps in whole s, best AIC first.

    Whole seconds are no continuous distribution: the n gaps of g s are taken as spread evenly
    between g and g + 1.
    """
    import numpy as np

    counts = Counter(gaps)
    times = np.array([gap + (i + 0.5) / n for gap, n in counts.items() for i in range(n)])
    models = [*_usual(times), _hyperexponential(times)]
    return tuple(sorted(models, key=lambda model: model.aic))


def _usual(times: np.ndarray[Any, Any]) -> list[GapModel]:
    from math import log

    from scipy import stats

    _, mean = stats.expon.fit(times, floc=0)
    sigma, _, median = stats.lognorm.fit(times, floc=0)
    shape, _, scale = stats.weibull_min.fit(times, floc=0)
    form, _, unit = stats.gamma.fit(times, floc=0)
    found = [
        ("exponential", {"mean": mean}, stats.expon(0, mean)),
        ("lognormal", {"mu": log(median), "sigma": sigma}, stats.lognorm(sigma, 0, median)),
        ("weibull", {"shape": shape, "scale": scale}, stats.weibull_min(shape, 0, scale)),
        ("gamma", {"shape": form, "scale": unit}, stats.gamma(form, 0, unit)),
    ]
    return [
        _judged(name, parameters, times, float(law.logpdf(times).sum()), law.cdf)
        for name, parameters, law in found
    ]


def _hyperexponential(times: np.ndarray[Any, Any]) -> GapModel:
    """Two phases by expectation and maximisation (EM); the shorter is the first."""
    import numpy as np

    p, mean1, mean2 = 0.5, times.mean() / 2, times.mean() * 2
    before = -np.inf
    for _ in range(ROUNDS):
        first = p / mean1 * np.exp(-times / mean1)
        both = first + (1 - p) / mean2 * np.exp(-times / mean2)
        likely = float(np.log(both).mean())
        if likely - before < SETTLED:
            break
        before = likely
        belongs = first / both
        p = float(belongs.mean())
        mean1 = float((belongs * times).sum() / belongs.sum())
        mean2 = float(((1 - belongs) * times).sum() / (1 - belongs).sum())

    def cdf(at: np.ndarray[Any, Any]) -> Any:
        return 1 - p * np.exp(-at / mean1) - (1 - p) * np.exp(-at / mean2)

    parameters = {"p": p, "mean1": mean1, "mean2": mean2}
    return _judged("hyperexponential", parameters, times, likely * len(times), cdf)


def _judged(
    name: str,
    parameters: dict[str, float],
    times: np.ndarray[Any, Any],
    likelihood: float,
    cdf: Callable[..., Any],
) -> GapModel:
    from scipy import stats

    aic = 2 * len(parameters) - 2 * likelihood
    ks = float(stats.kstest(times, cdf).statistic)
    return GapModel(name, {key: float(value) for key, value in parameters.items()}, aic, ks)
