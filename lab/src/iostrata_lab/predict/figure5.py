"""Jobs on clusters of other sizes, beside what S5 says of them (Fig. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from iostrata.text import percent, plural
from iostrata_lab.predict.accuracy import accuracy, interval, verdict
from iostrata_lab.predict.jobs import JOBS
from iostrata_lab.predict.result import PredictedJobCase, PredictResult
from iostrata_lab.studies.interface import Claim, Table

_BARS = {"identity": 0.95, "wordcount": 0.9}
_LEAST_HELD = 0.85  # of cases, in ranges that nine of ten should be in
_PAPER = {job.name: job.paper for job in JOBS}
_Case = tuple[PredictedJobCase, Sequence[float]]


def _measured(result: PredictResult) -> list[_Case]:
    found = [(case, result.times_of_job(case)) for case in result.jobs]
    return [(case, times) for case, times in found if times]


def _accuracy(case: PredictedJobCase, times: Sequence[float]) -> float:
    return accuracy(case.time / 1e9, fmean(times))


def job_tables(result: PredictResult) -> list[Table]:
    """None where no job was measured."""
    heads = ["job", "nodes", "disks", "measured", "95 %", "predicted", "range", "accuracy"]
    rows = [
        [
            case.job,
            str(case.nodes),
            f"{case.disk / 1e6:g} MB/s",
            f"{fmean(times):.1f} s",
            interval(times),
            f"{case.time / 1e9:.1f} s",
            f"{case.least / 1e9:.1f} to {case.most / 1e9:.1f}",
            percent(_accuracy(case, times)),
            _of_paper(case),
        ]
        for case, times in _measured(result)
    ]
    title = "Fig. 5: predicted and measured times"
    return [Table(title, [*heads, "of the paper"], rows)] if rows else []


def _where(case: PredictedJobCase) -> str:
    return f"{plural(case.nodes, 'node')} with {case.disk / 1e6:g} MB/s"


def _of_paper(case: PredictedJobCase) -> str:
    known = _PAPER[case.job]
    found = known.get(case.nodes, known.get(0))
    return percent(found) if found is not None else ""


def job_bars(result: PredictResult) -> list[tuple[str, list[tuple[str, float]]]]:
    """For a figure: seconds."""
    return [
        (
            f"{case.job}, {plural(case.nodes, 'node')}, {case.disk / 1e6:g} MB/s",
            [("measured", fmean(times)), ("predicted with a trace", case.time / 1e9)],
        )
        for case, times in _measured(result)
    ]


def job_claims(result: PredictResult) -> list[Claim]:
    """None where no job was measured."""
    cases = _measured(result)
    claims = []
    for name, bar in _BARS.items():
        some = [(case, times) for case, times in cases if case.job == name]
        if some:
            each = [(case, _accuracy(case, times)) for case, times in some]
            claims.append(
                Claim(
                    f"ours: {name}, recorded on one cluster, is predicted for others with a median "
                    f"accuracy of {percent(bar)} or more",
                    verdict(median(found for _, found in each) >= bar),
                    ", ".join(f"{_where(case)} {percent(found)}" for case, found in each),
                )
            )
    if cases:
        held = sum(case.least <= 1e9 * fmean(times) <= case.most for case, times in cases)
        claims.append(
            Claim(
                "ours: ranges of jobs hold nine of ten means",
                verdict(held >= _LEAST_HELD * len(cases)),
                f"{held} of {len(cases)}",
            )
        )
    return claims
