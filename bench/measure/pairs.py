"""Interleaved pairs of the same job on two sides, the order turned with each."""

from __future__ import annotations

from typing import Any

from bench.measure.cluster import Side
from bench.measure.results import Results, say
from bench.measure.workloads import Job

Row = dict[str, Any]


def measure(
    results: Results, sides: tuple[Side, Side], jobs: list[Job], pairs: int, **mark: object
) -> None:
    """Runs what `results` lacks of so many pairs of each job; `mark` is put on each run.

    A pair is kept whole or not at all. Before the first, each side runs the first job once
    without being counted: the first run of a new cluster takes a fifth more CPU.
    """
    key = {"datanodes": sides[0].datanodes, **mark}
    missing = [
        (pair, job)
        for pair in range(1, pairs + 1)
        for job in jobs
        if len(complete(results.having(**key), job, names(sides))) < pair
    ]
    if not missing:
        return
    say(f"{len(missing)} pairs of {' and '.join(names(sides))} to go")
    warm = missing[0][1]
    results.add([{**side.measure(warm, 0), **mark, "warm_up": True} for side in sides])
    for done, (pair, job) in enumerate(missing, 1):
        number = 1 + max((run["number"] for run in results.having(job=job.name)), default=0)
        order = sides if pair % 2 else sides[::-1]
        results.add([{**side.measure(job, number), **mark, "warm_up": False} for side in order])
        say(f"pair {done} of {len(missing)} done")


def names(sides: tuple[Side, Side]) -> tuple[str, str]:
    return sides[0].observer.name, sides[1].observer.name


def complete(runs: list[Row], job: Job, sides: tuple[str, str]) -> list[tuple[Row, Row]]:
    """The pairs of runs of a job, those of the first side first; warm-ups left out."""
    of = {
        (run["number"], run["side"]): run
        for run in runs
        if (run["job"], run["megabytes"]) == (job.name, round(job.megabytes, 3))
        and not run["warm_up"]
    }
    numbers = sorted({number for number, _ in of})
    return [
        (of[number, sides[0]], of[number, sides[1]])
        for number in numbers
        if (number, sides[0]) in of and (number, sides[1]) in of
    ]
