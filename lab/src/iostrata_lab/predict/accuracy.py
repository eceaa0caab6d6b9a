"""Predicted and measured times beside each other, as S5 does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from iostrata.analyse.intervals import t_quantile
from iostrata_lab.studies.interface import ClaimVerdict


def accuracy(predicted: float, measured: float) -> float:
    """As S5 has it, 1 less the error; not below 0."""
    return max(0.0, 1 - abs(predicted / measured - 1))


def interval(times: Sequence[float]) -> str:
    if len(times) < 2:
        return ""
    half = t_quantile(len(times) - 1) * stdev(times) / math.sqrt(len(times))
    return f"{fmean(times) - half:.2f} to {fmean(times) + half:.2f}"


def verdict(holds: bool) -> ClaimVerdict:
    return ClaimVerdict.agrees if holds else ClaimVerdict.differs
