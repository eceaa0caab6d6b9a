"""Grep, a table scan, jobs and scans of HBase, beside what S5 says of them (Figs. 3 to 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

from iostrata.predict.model import COVERAGE
from iostrata.text import percent
from iostrata_lab.predict import jobs, programs, storages
from iostrata_lab.predict.accuracy import accuracy, interval, verdict
from iostrata_lab.predict.figure5 import job_bars, job_claims, job_tables
from iostrata_lab.predict.jobs import JOBS
from iostrata_lab.predict.order import PredictStudy
from iostrata_lab.predict.programs import PROGRAMS
from iostrata_lab.predict.result import PredictedCase, PredictResult
from iostrata_lab.predict.storages import STORAGES
from iostrata_lab.studies.figure import bars
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome, Table

_STORAGES = {one.name: one for one in STORAGES}
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
        return accuracy(self.predicted, self.measured)

    @property
    def of_bytes(self) -> float:
        return accuracy(self.by_bytes, self.measured)

    @property
    def of_paper(self) -> float | None:
        return _PROGRAMS[self.case.program].paper.get(_STORAGES[self.case.storage].kind)

    @property
    def price(self) -> float:
        """Of a second on its storage."""
        return _STORAGES[self.case.storage].price

    @property
    def dominates(self) -> bool:
        """Whether I/O takes most of its time."""
        return self.by_bytes >= DOMINATES * self.measured

    @property
    def held(self) -> int:
        """How many runs were within the range."""
        low, high = self.range
        return sum(low <= one <= high for one in self.times)


def conclude(result: PredictResult) -> Outcome:
    found = [
        CaseAccuracy(case, times) for case in result.predicted if (times := result.times(case))
    ]
    figures = list(dict.fromkeys(_PROGRAMS[one.case.program].figure for one in found))
    tables = [_table(figure, found) for figure in figures]
    claims = [_few_computations(found), _many_computations(found), *_bars(found), _intervals(found)]
    claims += [_ranking(found, by_price) for by_price in (False, True)]
    tables += job_tables(result)
    return Outcome(tables, [*claims, *job_claims(result)], _figure(found, result))


def _table(figure: str, found: Sequence[CaseAccuracy]) -> Table:
    heads = ["program", "storage", "measured", "95 %", "predicted", "range", "by bytes alone"]
    heads += ["accuracy", "of bytes alone", "of the paper"]
    rows = [
        [
            one.case.program,
            one.case.storage,
            f"{one.measured:.2f} s",
            interval(one.times),
            f"{one.predicted:.2f} s",
            "{:.2f} to {:.2f}".format(*one.range),
            f"{one.by_bytes:.2f} s",
            percent(one.accuracy),
            percent(one.of_bytes),
            "" if one.of_paper is None else percent(one.of_paper),
        ]
        for one in found
        if _PROGRAMS[one.case.program].figure == figure
    ]
    return Table(f"{figure}: predicted and measured times", heads, rows, names=2)


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
        verdict(all(one.of_bytes >= 0.9 for one in some)) if some else ClaimVerdict.unknown,
        _said(some, of_bytes=True),
    )


def _many_computations(found: Sequence[CaseAccuracy]) -> Claim:
    some = [one for one in found if one.case.program == "grep that computes"]
    return Claim(
        "where more is computed, they say 30 to 40 %, and too little time",
        verdict(all(one.of_bytes < 0.5 and one.by_bytes < one.measured for one in some))
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
                verdict(median(one.accuracy for one in some) >= bar)
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
        verdict(held >= _LEAST_HELD * runs) if runs else ClaimVerdict.unknown,
        f"{held} of {runs} runs",
    )


def _ranking(found: Sequence[CaseAccuracy], by_price: bool) -> Claim:
    """Storages whose ranges overlap may be in any order."""

    def cost(one: CaseAccuracy, seconds: float) -> float:
        return seconds * (one.price if by_price else 1)

    wrong, told = [], []
    for program in dict.fromkeys(one.case.program for one in found):
        some = [one for one in found if one.case.program == program]
        some.sort(key=lambda one: cost(one, one.predicted))
        surely = [
            (a, b) for a, b in combinations(some, 2) if cost(a, a.range[1]) < cost(b, b.range[0])
        ]
        wrong += [(a, b) for a, b in surely if cost(a, a.measured) >= cost(b, b.measured)]
        unit = "" if by_price else " s"
        order = ", ".join(f"{one.case.storage} {cost(one, one.measured):.1f}{unit}" for one in some)
        told.append(f"{program}: {order}")
    prices = ", ".join(f"{one.name} {one.price:g}" for one in STORAGES)
    by = f"price (of a GB and an hour: {prices})" if by_price else "time"
    return Claim(
        f"ours: by {by}, storages stand in the predicted order for each program, where ranges do "
        "not overlap",
        verdict(not wrong) if told else ClaimVerdict.unknown,
        "in the order that was predicted: " + "; ".join(told),
    )


def _figure(found: Sequence[CaseAccuracy], result: PredictResult) -> str:
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
    return bars("Programs and jobs elsewhere", "s", [*groups, *job_bars(result)])


PREDICT_PAPER = PredictStudy(
    name="predict-paper",
    about="programs on storages that were profiled: predicted, and then run there",
    source="S5: Mytilinis et al., I/O Performance Modeling for Big Data Applications over Cloud "
    "Infrastructures, section VII, Figs. 3 to 6",
    differences=(
        "the disk of a node, braked, stands for DRBD, and MooseFS with one copy on braked disks "
        "for RADOS: this kernel has no DRBD; a second disk is twice as fast",
        "each program is recorded once with its files in memory, and predicted from that; by bytes "
        "alone is what the paper does",
        "MariaDB stands for MySQL; a run starts the server and ends it, and is timed as a whole",
        "HBase is in one JVM, which starts, scans and ends, and is timed as a whole; each client "
        "scans as much as a quarter of a table of 200 MB, 1 MB at a time, from rows chosen "
        "50-50 (2 clients) or 90-10 (4)",
        "a count of words was chosen when all else was done, to be predicted without a look",
        "nodes of clusters are on one machine and share its cores; the identity is Hadoop's sort",
    ),
    parameters=(*programs.PARAMETERS, *storages.PARAMETERS, *jobs.PARAMETERS),
    programs=PROGRAMS,
    storages=STORAGES,
    jobs=JOBS,
    conclude=conclude,
)
