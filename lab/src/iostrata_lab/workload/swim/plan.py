"""From a trace to what is submitted when: pure functions, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from iostrata_lab.workload.swim.trace import TraceJob


@dataclass(frozen=True)
class Popularity:
    """How inputs are shared where the trace has no paths.

    A job re-reads an older input with probability `reread`, the n-th of them with weight
    n^-`zipf`: both are fitted to the Facebook trace with paths (FB-2010, fit.py).
    """

    reread: float = 0.325
    zipf: float = 0.786


@dataclass(frozen=True)
class Scaling:
    """Times and bytes are multiplied; no size but 0 becomes less than `floor` bytes.

    A map has up to `split` bytes, a reduce up to `per_reduce`.
    """

    time: Fraction = Fraction(1)
    data: Fraction = Fraction(1)
    floor: int = 0
    split: int = 128 << 20
    per_reduce: int = 256 << 20


@dataclass(frozen=True)
class PlannedJob:
    """One job: `at` ms after the first submission, sizes in bytes; `file` is an index of inputs."""

    name: str
    at: int
    file: int
    input: int
    shuffle: int
    output: int
    maps: int
    reduces: int


def total(jobs: Sequence[TraceJob | PlannedJob]) -> tuple[int, int, int]:
    """Bytes of input, shuffle and output of all jobs."""
    return (
        sum(job.input for job in jobs),
        sum(job.shuffle for job in jobs),
        sum(job.output for job in jobs),
    )


@dataclass(frozen=True)
class ReplayPlan:
    """Jobs in order, and the bytes of each input file: as many as its greediest job reads."""

    jobs: tuple[PlannedJob, ...]
    files: tuple[int, ...]

    @property
    def total(self) -> tuple[int, int, int]:
        """Bytes of input, shuffle and output of all jobs."""
        return total(self.jobs)

    @property
    def stored(self) -> int:
        """Bytes in HDFS when nothing is deleted, without replicas."""
        return sum(self.files) + self.total[2]


def planned(
    jobs: Sequence[TraceJob], scaling: Scaling, popularity: Popularity, seed: int
) -> ReplayPlan:
    """What is asked of the cluster; the first job is submitted at 0 ms."""
    inputs = scaled([job.input for job in jobs], scaling.data, scaling.floor)
    shuffles = scaled([job.shuffle for job in jobs], scaling.data, scaling.floor)
    outputs = scaled([job.output for job in jobs], scaling.data, scaling.floor)
    files = _files(jobs, popularity, seed)
    rows = []
    for i, job in enumerate(jobs):
        sizes = inputs[i], shuffles[i], outputs[i]
        at = int((job.submit - jobs[0].submit) * 1000 * scaling.time)
        tasks = _tasks(job.map_only, sizes, scaling)
        rows.append(PlannedJob(job.name, at, files[i], *sizes, *tasks))
    most = [0] * (max(files, default=-1) + 1)
    for row in rows:
        most[row.file] = max(most[row.file], row.input)
    return ReplayPlan(tuple(rows), tuple(most))


def scaled(sizes: Sequence[int], factor: Fraction, floor: int = 0) -> list[int]:
    """Each size times `factor`, whole and off by less than 1 byte; their sum is that of all sizes
    times `factor`, rounded down. A size of 0 stays 0; others are raised to `floor`, if that is
    more, which the sum then is by as much.
    """
    edges = [int(total * factor) for total in accumulate(sizes, initial=0)]
    shares = [after - before for before, after in pairwise(edges)]
    return [max(share, floor) if size else 0 for size, share in zip(sizes, shares, strict=True)]


def shared(count: int, popularity: Popularity, seed: int) -> Iterator[int]:
    """The input of each of `count` jobs, numbered by first use."""
    draw = random.Random(f"inputs {seed}")
    weights: list[float] = []  # summed up
    for _ in range(count):
        if weights and draw.random() < popularity.reread:
            yield draw.choices(range(len(weights)), cum_weights=weights)[0]
            continue
        weights.append((weights[-1] if weights else 0.0) + (len(weights) + 1) ** -popularity.zipf)
        yield len(weights) - 1


def _files(jobs: Sequence[TraceJob], popularity: Popularity, seed: int) -> list[int]:
    if not any(job.path for job in jobs):
        return list(shared(len(jobs), popularity, seed))
    numbers: dict[str, int] = {}
    return [numbers.setdefault(job.path, len(numbers)) for job in jobs]


def _tasks(map_only: bool, sizes: tuple[int, int, int], scaling: Scaling) -> tuple[int, int]:
    """Maps and reduces: as many as what they read or write asks for."""
    read, shuffled, written = sizes
    emitted = written if map_only else shuffled
    maps = max(1, -(-max(read, emitted) // scaling.split))
    if map_only:
        return maps, 0
    return maps, max(1, -(-max(shuffled, written) // scaling.per_reduce))
