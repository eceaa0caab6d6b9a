"""Statistics of paired measurements: intervals, what they could have seen, and what they prove.

Shares are fractions (0.01 is one per cent). Every interval is two-sided.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize
from scipy import stats as scipy_stats

CONFIDENCE = 0.95
POWER = 0.8
FEWEST_PAIRS = 10  # for a verdict; an interval needs two
RESAMPLES = 9999


@dataclass(frozen=True)
class Interval:
    """An estimate from `n` values, with the ends of its interval; NaN where there is none.

    `detectable` is the smallest true effect that a two-sided test of so many values with this
    spread finds with probability POWER.
    """

    estimate: float
    low: float
    high: float
    n: int
    detectable: float = math.nan

    def facts(self) -> dict[str, Any]:
        """For JSON, which has no NaN: None instead."""
        values = asdict(self)
        return {k: v if not isinstance(v, float) or math.isfinite(v) else None
                for k, v in values.items()}  # fmt: skip


def mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Mean with Student's t interval."""
    n = len(values)
    if n < 2:
        return Interval(values[0] if n else math.nan, math.nan, math.nan, n)
    middle, error = float(np.mean(values)), float(scipy_stats.sem(values))
    half = float(scipy_stats.t.ppf((1 + confidence) / 2, n - 1)) * error
    return Interval(middle, middle - half, middle + half, n, detectable(values, confidence))


def ratio(pairs: Sequence[tuple[float, float]], confidence: float = CONFIDENCE) -> Interval:
    """By which share the first of each pair exceeds the second: mean of the logarithms."""
    logs = mean([math.log(first / second) for first, second in pairs], confidence)
    return Interval(
        math.expm1(logs.estimate),
        math.expm1(logs.low),
        math.expm1(logs.high),
        logs.n,
        math.expm1(logs.detectable),
    )


def bootstrap(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Mean with its bias-corrected bootstrap interval: for spreads that are not normal.

    The seed is fixed, so the same values give the same interval.
    """
    n = len(values)
    if n < 2 or len(set(values)) == 1:
        return mean(values, confidence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy_stats.DegenerateDataWarning)
        ends = scipy_stats.bootstrap(
            (np.asarray(values),),
            np.mean,
            n_resamples=RESAMPLES,
            confidence_level=confidence,
            rng=np.random.default_rng(1),
        ).confidence_interval
    return Interval(
        float(np.mean(values)),
        float(ends.low),
        float(ends.high),
        n,
        detectable(values, confidence),
    )


def detectable(values: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """The smallest effect that a t test of n such values finds with probability POWER.

    From the non-central t distribution; NaN for fewer than two values.
    """
    n = len(values)
    return _errors_needed(n, confidence) * float(scipy_stats.sem(values)) if n > 1 else math.nan


@cache
def _errors_needed(n: int, confidence: float) -> float:
    """The detectable effect in standard errors of the mean."""
    critical = float(scipy_stats.t.ppf((1 + confidence) / 2, n - 1))

    def lacks(shift: float) -> float:
        power = scipy_stats.nct.sf(critical, n - 1, shift)
        power += scipy_stats.nct.cdf(-critical, n - 1, shift)
        # Far above what is asked scipy's distribution gives NaN.
        return 1 - POWER if math.isnan(power) else float(power) - POWER

    # Two values need a shift of some 20 standard errors; no number of them needs more.
    return float(optimize.brentq(lacks, 0.0, 100.0))


@dataclass(frozen=True)
class Line:
    """fixed + slope * x, fitted to all points, each with its t interval."""

    fixed: Interval
    slope: Interval

    def facts(self) -> dict[str, Any]:
        return {"fixed": self.fixed.facts(), "slope": self.slope.facts()}


def line(points: Sequence[tuple[float, float]], confidence: float = CONFIDENCE) -> Line | None:
    """Least squares; None for fewer than three points or a single x, which say nothing."""
    n = len(points)
    if n < 3 or len({x for x, _ in points}) < 2:
        return None
    fit = scipy_stats.linregress([x for x, _ in points], [y for _, y in points])
    times = float(scipy_stats.t.ppf((1 + confidence) / 2, n - 2))

    def interval(value: float, error: float) -> Interval:
        return Interval(float(value), float(value - times * error), float(value + times * error), n)

    return Line(
        fixed=interval(fit.intercept, fit.intercept_stderr),
        slope=interval(fit.slope, fit.stderr),
    )


@dataclass(frozen=True)
class Verdict:
    """`pass`, `fail` or `inconclusive`, and why."""

    word: str
    why: str


def verdict(cost: Interval, bar: float, problems: Sequence[str] = ()) -> Verdict:
    """Whether a cost stays below `bar`.

    A pass is earned by an interval that lies below the bar as a whole, of a measurement that
    could have seen a cost as high as the bar, of enough pairs, without problems (something
    dropped, not traced, not as ordered), and that does not claim that tracing saves CPU.
    A fail needs the whole interval above the bar. Everything else is inconclusive.
    """
    problem = _why_not(cost, problems)
    if problem:
        return Verdict("inconclusive", problem)
    between = f"{cost.low:+.2%} to {cost.high:+.2%}"
    if cost.low > bar:
        return Verdict("fail", f"{between} lies above {bar:.0%}")
    if cost.high >= bar:
        return Verdict("inconclusive", f"{between} holds {bar:.0%}")
    if cost.high < 0:
        return Verdict("inconclusive", f"{between}: tracing saves nothing, something else differs")
    if not cost.detectable <= bar:
        detectable = f"the smallest cost it would see is {cost.detectable:.2%}"
        return Verdict("inconclusive", f"{between} lies below {bar:.0%}, but {detectable}")
    return Verdict("pass", f"{between} lies below {bar:.0%}")


def _why_not(cost: Interval, problems: Sequence[str]) -> str:
    if problems:
        return "; ".join(problems)
    if cost.n < FEWEST_PAIRS:
        return f"{cost.n} pairs, at least {FEWEST_PAIRS} are needed"
    if not all(map(math.isfinite, (cost.estimate, cost.low, cost.high))):
        return "no interval"
    return ""


def flat(slope: Interval, bar: float) -> Verdict:
    """Whether a slope is so near 0 that it does not matter: within -bar to +bar."""
    between = f"slope {slope.low:+.2%} to {slope.high:+.2%}"
    if not all(map(math.isfinite, (slope.low, slope.high))):
        return Verdict("inconclusive", "no interval")
    if slope.low > bar or slope.high < -bar:
        return Verdict("not flat", f"{between}, beyond {bar:.0%}")
    if -bar < slope.low and slope.high < bar:
        return Verdict("flat", f"{between}, within {bar:.0%}")
    return Verdict("inconclusive", f"{between}, {bar:.0%} within it")
