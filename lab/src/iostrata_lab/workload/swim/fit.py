"""The fit of a trace: gaps, sizes and popularity of inputs in a few numbers, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log
from pathlib import Path
from statistics import fmean, linear_regression, pstdev
from typing import Any

from iostrata.errors import UserError
from iostrata.records import Count, Record
from iostrata_lab.workload.swim.plan import Popularity
from iostrata_lab.workload.swim.trace import TraceJob

TAIL = 0.05  # share of the largest sizes that the tail index is of
SIZES = ("input", "shuffle", "output")
# The parameters of each model of gaps, in s or without unit; all are above 0 but mu.
MODELS = {
    "exponential": ("mean",),
    "lognormal": ("mu", "sigma"),
    "weibull": ("shape", "scale"),
    "gamma": ("shape", "scale"),
    "hyperexponential": ("p", "mean1", "mean2"),
}


@dataclass(frozen=True)
class GapModel:
    """One of MODELS, by maximum likelihood.

    `aic` is Akaike's criterion, `ks` the largest distance between the distributions (Kolmogorov,
    Smirnov): less is better for both.
    """

    name: str
    parameters: dict[str, float]
    aic: float
    ks: float


@dataclass(frozen=True)
class SizeFit:
    """Bytes: the share of zeros; mean and deviation of the logarithm of the others; the largest;
    Hill's index of the tail above `tail_from`, None where too few or equal sizes have none.
    """

    zero: float
    mu: float
    sigma: float
    most: int
    tail: float | None
    tail_from: int | None


class FitAnswer(Record, frozen=True):
    """A fit as JSON has it; `best` is the name of the best model of gaps."""

    trace: str
    jobs: Count
    gaps: tuple[GapModel, ...]
    input: SizeFit
    shuffle: SizeFit
    output: SizeFit
    popularity: Popularity | None
    best: str


@dataclass(frozen=True)
class Fit:
    """Of `jobs` jobs; `popularity` is None for a trace without paths."""

    trace: str
    jobs: int
    gaps: tuple[GapModel, ...]
    input: SizeFit
    shuffle: SizeFit
    output: SizeFit
    popularity: Popularity | None

    @property
    def best(self) -> GapModel:
        """The model of the gaps with the least AIC."""
        return min(self.gaps, key=lambda model: model.aic)

    def answer(self) -> FitAnswer:
        return FitAnswer(**vars(self), best=self.best.name)

    @classmethod
    def read(cls, path: Path) -> Fit:
        """What was written as JSON; raises UserError for what is no such fit."""
        try:
            said = json.loads(path.read_text("utf-8"))
            fit = cls(
                trace=str(said["trace"]),
                jobs=int(said["jobs"]),
                gaps=tuple(_gap_model(one) for one in said["gaps"]),
                popularity=_popularity(said["popularity"]),
                **{size: _size_fit(said[size]) for size in SIZES},
            )
            if not fit.gaps:
                raise ValueError("no model of gaps")
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(f"{path}: {why}", "make it: iostrata workload fit") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{path} is no fit: {error}", "make one: workload fit") from None
        return fit


def popularity_of(jobs: Sequence[TraceJob]) -> Popularity | None:
    """How inputs are shared, None without paths.

    The exponent is the slope of log uses over log rank, of the inputs that are read more than once.
    """
    uses = Counter(job.path for job in jobs if job.path)
    if not uses:
        return None
    often = [count for _, count in uses.most_common() if count > 1]
    reread = 1 - len(uses) / uses.total()
    if len(often) < 2:
        return Popularity(reread, 0.0)
    ranks = [log(rank) for rank in range(1, len(often) + 1)]
    return Popularity(reread, max(0.0, -linear_regression(ranks, [log(n) for n in often]).slope))


def size_fit(sizes: Sequence[int]) -> SizeFit:
    """The fit of one column of sizes."""
    some = sorted(size for size in sizes if size)
    logs = [log(size) for size in some] or [0.0]
    tail, start = _hill(some)
    zero = 1 - len(some) / len(sizes)
    return SizeFit(zero, fmean(logs), pstdev(logs), max(sizes), tail, start)


def _hill(ordered: Sequence[int]) -> tuple[float | None, int | None]:
    """The index of Hill's estimator, and the size that the tail begins with."""
    many = int(TAIL * len(ordered))
    if many < 2:
        return None, None
    start = ordered[-many - 1]
    above = fmean(log(size / start) for size in ordered[-many:])
    return (1 / above, start) if above else (None, None)


def _gap_model(said: Mapping[str, Any]) -> GapModel:
    name, found = str(said["name"]), {str(k): float(v) for k, v in said["parameters"].items()}
    if set(found) != set(MODELS[name]):
        raise ValueError(f"{name} has {', '.join(MODELS[name])}")
    for key, value in found.items():
        if not isfinite(value) or (key != "mu" and value <= 0) or (key == "p" and value > 1):
            raise ValueError(f"{name}: {key}={value}")
    return GapModel(name, found, float(said["aic"]), float(said["ks"]))


def _popularity(said: Mapping[str, Any] | None) -> Popularity | None:
    if said is None:
        return None
    found = Popularity(float(said["reread"]), float(said["zipf"]))
    if not (0 <= found.reread <= 1 and 0 <= found.zipf <= 10):
        raise ValueError(f"reread={found.reread}, zipf={found.zipf}")
    return found


def _size_fit(said: Mapping[str, Any]) -> SizeFit:
    fit = SizeFit(**said)
    if not (0 <= fit.zero <= 1 and fit.sigma >= 0 and isfinite(fit.mu) and isfinite(fit.sigma)):
        raise ValueError(f"zero={fit.zero}, mu={fit.mu}, sigma={fit.sigma}")
    if not (isinstance(fit.most, int) and 0 <= fit.most < 1 << 63):
        raise ValueError(f"most={fit.most}")
    return fit
