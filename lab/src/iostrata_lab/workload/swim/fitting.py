"""Fits models to a trace."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from iostrata.errors import UserError
from iostrata_lab.workload.swim.fit import Fit, GapModel, popularity_of, size_fit
from iostrata_lab.workload.swim.trace import LONGEST_GAP, TraceJob

if TYPE_CHECKING:
    import numpy as np

FEWEST = 20  # gaps: of fewer, any model fits
ROUNDS = 5000  # of EM at the most
SETTLED = 1e-9  # a gain of the mean log-likelihood that is none


def fitted(name: str, jobs: Sequence[TraceJob]) -> Fit:
    """The fit of a trace; raises UserError for too few jobs."""
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
    return _models(times)


def models_of(seconds: Sequence[float]) -> tuple[GapModel, ...]:
    """All models of gaps in s, above 0, best AIC first."""
    import numpy as np

    return _models(np.array(seconds))


def _models(times: np.ndarray[Any, Any]) -> tuple[GapModel, ...]:
    with warnings.catch_warnings():
        # gaps that hardly differ have no shape: scipy warns, and the model is left out below
        warnings.simplefilter("ignore", RuntimeWarning)
        models = [*_usual(times), _hyperexponential(times)]
    fit = (model for model in models if isfinite(model.aic))
    return tuple(sorted(fit, key=lambda model: model.aic))


def _usual(times: np.ndarray[Any, Any]) -> Iterator[GapModel]:
    """By maximum likelihood; without those that scipy finds no parameters of."""
    from math import log

    from scipy import stats

    def lognormal() -> tuple[dict[str, float], Any]:
        sigma, _, median = stats.lognorm.fit(times, floc=0)
        return {"mu": log(median), "sigma": sigma}, stats.lognorm(sigma, 0, median)

    def weibull() -> tuple[dict[str, float], Any]:
        shape, _, scale = stats.weibull_min.fit(times, floc=0)
        return {"shape": shape, "scale": scale}, stats.weibull_min(shape, 0, scale)

    def gamma() -> tuple[dict[str, float], Any]:
        shape, _, scale = stats.gamma.fit(times, floc=0)
        return {"shape": shape, "scale": scale}, stats.gamma(shape, 0, scale)

    mean = float(times.mean())
    yield _judged(
        "exponential",
        {"mean": mean},
        times,
        float(stats.expon(0, mean).logpdf(times).sum()),
        stats.expon(0, mean).cdf,
    )
    for model in (lognormal, weibull, gamma):
        try:
            parameters, law = model()
        except ValueError:  # gaps that do not differ have no shape
            continue
        yield _judged(model.__name__, parameters, times, float(law.logpdf(times).sum()), law.cdf)


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
