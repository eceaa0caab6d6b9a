"""Grep with two patterns and a table scan, beside what S5 says of them (Figs. 3 and 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, stdev

from iostrata.analyse.intervals import t_quantile
from iostrata.predict.model import COVERAGE
from iostrata.text import percent
from iostrata_lab.predict import programs, storages
from iostrata_lab.predict.programs import PROGRAMS
from iostrata_lab.predict.result import PredictedCase, PredictResult
from iostrata_lab.predict.storages import STORAGES
from iostrata_lab.predict.study import PredictStudy
from iostrata_lab.studies.figure import bars
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome, Table

_KINDS = {one.name: one.kind for one in STORAGES}
_PROGRAMS = {one.name: one for one in PROGRAMS}
DOMINATES = 0.8  # of the time: what a program moves takes so much of it, or more
BARS = {True: 0.95, False: 0.9}  # of accuracy, where I/O dominates and elsewhere
_LEAST_HELD = 0.85  # of runs, in intervals of 90 %


@dataclass(frozen=True)
class CaseAccuracy:
    """A program on a storage: seconds measured, predicted, and by bytes alone, as S5 does."""

    case: PredictedCase
    times: Sequence[float]

    @property
    def measured(self) -> float:
        return fmean(self.times)

    @property
    def predicted(self) -> float:
        return (self.case.forecast.time or 0) / 1e9

    @property
    def by_bytes(self) -> float:
        return (self.case.forecast.moving or 0) / 1e9

    @property
    def range(self) -> tuple[float, float]:
        """Seconds, from the least to the most."""
        one = self.case.forecast
        return (one.least or 0) / 1e9, (one.most or 0) / 1e9

    @property
    def accuracy(self) -> float:
        return _accuracy(self.predicted, self.measured)

    @property
    def of_bytes(self) -> float:
        return _accuracy(self.by_bytes, self.measured)

    @property
    def of_paper(self) -> float:
        return _PROGRAMS[self.case.program].paper[_KINDS[self.case.storage]]

    @property
    def dominates(self) -> bool:
        """Whether I/O takes most of its time."""
        return self.by_bytes >= DOMINATES * self.measured

    @property
    def held(self) -> int:
        """How many runs were within the range."""
        low, high = self.range
        return sum(low <= one <= high for one in self.times)


def _accuracy(predicted: float, measured: float) -> float:
    """As S5 has it, 1 less the error; not below 0."""
    return max(0.0, 1 - abs(predicted / measured - 1))


def conclude(result: PredictResult) -> Outcome:
    found = [
        CaseAccuracy(case, times) for case in result.predicted if (times := result.times(case))
    ]
    figures = list(dict.fromkeys(_PROGRAMS[one.case.program].figure for one in found))
    tables = [_table(figure, found) for figure in figures]
    claims = [_few_computations(found), _many_computations(found), *_bars(found), _intervals(found)]
    claims.append(_ranking(found))
    return Outcome(tables, claims, _figure(found))


def _table(figure: str, found: Sequence[CaseAccuracy]) -> Table:
    heads = ["program", "storage", "measured", "95 %", "predicted", "range", "by bytes alone"]
    heads += ["accuracy", "of bytes alone", "of the paper"]
    rows = [
        [
            one.case.program,
            one.case.storage,
            f"{one.measured:.2f} s",
            _interval(one.times),
            f"{one.predicted:.2f} s",
            "{:.2f} to {:.2f}".format(*one.range),
            f"{one.by_bytes:.2f} s",
            percent(one.accuracy),
            percent(one.of_bytes),
            percent(one.of_paper),
        ]
        for one in found
        if _PROGRAMS[one.case.program].figure == figure
    ]
    return Table(f"{figure}: predicted and measured times", heads, rows, names=2)


def _interval(times: Sequence[float]) -> str:
    if len(times) < 2:
        return ""
    half = t_quantile(len(times) - 1) * stdev(times) / math.sqrt(len(times))
    return f"{fmean(times) - half:.2f} to {fmean(times) + half:.2f}"


def _verdict(holds: bool) -> ClaimVerdict:
    return ClaimVerdict.agrees if holds else ClaimVerdict.differs


def _said(found: Sequence[CaseAccuracy], of_bytes: bool) -> str:
    return ", ".join(
        f"{one.case.program} on {one.case.storage} "
        f"{percent(one.of_bytes if of_bytes else one.accuracy)}"
        for one in found
    )


def _few_computations(found: Sequence[CaseAccuracy]) -> Claim:
    some = [one for one in found if one.case.program == "grep"]
    return Claim(
        "bytes and throughput alone predict a grep that computes little with 90 %",
        _verdict(all(one.of_bytes >= 0.9 for one in some)) if some else ClaimVerdict.unknown,
        _said(some, of_bytes=True),
    )


def _many_computations(found: Sequence[CaseAccuracy]) -> Claim:
    some = [one for one in found if one.case.program == "grep that computes"]
    return Claim(
        "where more is computed, they say 30 to 40 %, and too little time",
        _verdict(all(one.of_bytes < 0.5 and one.by_bytes < one.measured for one in some))
        if some
        else ClaimVerdict.unknown,
        _said(some, of_bytes=True),
    )


def _bars(found: Sequence[CaseAccuracy]) -> list[Claim]:
    claims = []
    for dominates, bar in BARS.items():
        some = [one for one in found if one.dominates == dominates]
        where = "where I/O dominates" if dominates else "elsewhere"
        claims.append(
            Claim(
                f"ours: with a trace, the median accuracy {where} is {percent(bar)} or more",
                _verdict(median(one.accuracy for one in some) >= bar)
                if some
                else ClaimVerdict.unknown,
                _said(some, of_bytes=False) or "no such case",
            )
        )
    return claims


def _intervals(found: Sequence[CaseAccuracy]) -> Claim:
    held, runs = sum(one.held for one in found), sum(len(one.times) for one in found)
    return Claim(
        f"ours: ranges hold {percent(COVERAGE)} of the runs",
        _verdict(held >= _LEAST_HELD * runs) if runs else ClaimVerdict.unknown,
        f"{held} of {runs} runs",
    )


def _ranking(found: Sequence[CaseAccuracy]) -> Claim:
    """Storages whose ranges overlap may be in any order."""
    wrong, told = [], []
    for program in dict.fromkeys(one.case.program for one in found):
        some = sorted(
            (one for one in found if one.case.program == program), key=lambda one: one.predicted
        )
        surely = [(a, b) for a, b in combinations(some, 2) if a.range[1] < b.range[0]]
        wrong += [(a, b) for a, b in surely if a.measured >= b.measured]
        order = ", ".join(f"{one.case.storage} {one.measured:.1f} s" for one in some)
        told.append(f"{program}: {order}")
    return Claim(
        "ours: storages are as fast, one after the other, as they are ranked for each program, "
        "where ranges do not overlap",
        _verdict(not wrong) if told else ClaimVerdict.unknown,
        "in the order that was predicted: " + "; ".join(told),
    )


def _figure(found: Sequence[CaseAccuracy]) -> str:
    groups = [
        (
            f"{one.case.program} on {one.case.storage}",
            [
                ("measured", one.measured),
                ("predicted with a trace", one.predicted),
                ("by bytes alone", one.by_bytes),
            ],
        )
        for one in found
    ]
    return bars("Programs on storages that were profiled", "s", groups)


PREDICT_PAPER = PredictStudy(
    name="predict-paper",
    about="programs on storages that were profiled: predicted, and then run there",
    source="S5: Mytilinis et al., I/O Performance Modeling for Big Data Applications over Cloud "
    "Infrastructures, section VII, Figs. 3 and 4",
    differences=(
        "the disk of a node, braked, stands for DRBD, and MooseFS with one copy on braked disks "
        "for RADOS: this kernel has no DRBD; a second disk is twice as fast",
        "each program is recorded once with its files in memory, and predicted from that; by bytes "
        "alone is what the paper does",
        "MariaDB stands for MySQL; a run starts the server and ends it, and is timed as a whole",
        "Figs. 5 and 6 (jobs of Hadoop, HBase) are not in this study",
    ),
    parameters=(*programs.PARAMETERS, *storages.PARAMETERS),
    programs=PROGRAMS,
    storages=STORAGES,
    conclude=conclude,
)
