"""The measurement of a profile: round after round, until each point is known well enough (S5.1)."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from iostrata.errors import UserError
from iostrata.patience import Patience
from iostrata.predict import child
from iostrata.predict.adaptive import batches
from iostrata.predict.dimensions import (
    ACCESS,
    OPERATION,
    SEQUENTIAL,
    SIZE,
    Point,
    at_once,
    point_text,
)
from iostrata.predict.fio import MARK, Fio, FioResult
from iostrata.predict.hadoop import hadoop_load
from iostrata.predict.onhosts import fio_on, hadoop_on
from iostrata.predict.pressure import HostCounters
from iostrata.predict.rbd import rbd_load
from iostrata.predict.samples import ProfileFacts, Sample, SampleFile
from iostrata.predict.spec import ADAPTIVE, ProfileSpec

# A point whose samples are all disturbed is given up after so many times as many as it may have.
PATIENCE = 2
_LONGEST_BEFORE = 300.0  # s
_LONGEST_END = 10.0  # s from a signal to the end of a load, which may wait for a slow disk


class Load(Protocol):
    """What measures a point."""

    def prepare(self, point: Point) -> None: ...

    def measure(self, point: Point) -> FioResult: ...


class ProfileProgress(Protocol):
    """Is called before each sample: what it is of, samples so far, and the most that may come."""

    def __call__(self, text: str, done: int, most: int) -> None: ...


@dataclass(frozen=True)
class ProfileState:
    """How far a profile is. `wide`: points whose interval is wider than asked for; `cut`: samples
    that read in sequence and ended, after their longest time, before their files did. What a server
    has read ahead by then took time and is not counted, so it seems slower than it is.
    """

    points: int
    samples: int
    disturbed: int
    cut: int
    known: int
    wide: int
    unmeasured: int
    ended_by_budget: bool


def facts_of(spec: ProfileSpec) -> ProfileFacts:
    rules = spec.rules
    values = {name: list(several) for name, several in spec.values.items()}
    return ProfileFacts(
        spec.name, spec.place, values, rules.sample, rules.others, rules.before, [*spec.hosts.names]
    )


@contextmanager
def data_folder(spec: ProfileSpec) -> Iterator[Path]:
    """A new folder for the files that are read and written; it is gone afterwards.

    One that an earlier session has left, which was killed, is deleted first: it has our own name,
    and a mark of ours in it.
    """
    folder = Path(spec.data)
    mark = folder / MARK
    if folder.is_symlink() or (folder.exists() and not mark.is_file()):
        raise UserError(f"{folder} is there already, and is not ours", "move it away")
    _delete(folder)
    try:
        folder.mkdir(mode=0o700)
        mark.touch()
    except OSError as error:
        raise UserError(f"{folder} cannot be made: {error.strerror}", "is there room?") from None
    try:
        yield folder
    finally:
        _delete(folder)


def _delete(folder: Path) -> None:
    """A load that was killed a moment ago may still be making a file there."""
    patience = Patience(_LONGEST_END)
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and patience.lasts():
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)


def measure(
    spec: ProfileSpec,
    file: SampleFile,
    load: Load,
    progress: ProfileProgress,
    clock: Callable[[], float] = time.monotonic,
) -> ProfileState:
    """Measures all points of a batch once, in an order that is drawn anew, so that what changes
    with time is in all of them alike.
    """
    rules = spec.rules
    end = clock() + rules.budget
    order = random.Random(f"{rules.seed} {len(file.samples)}")
    for batch in _batches(spec, file):
        order.shuffle(batch)
        for point in batch:
            if clock() >= end:
                return _state(spec, file, True)
            progress(point_text(point, spec.varied), len(file.samples), _most(spec, file))
            file.add(_sample(spec, load, point))
    return _state(spec, file, False)


def _batches(spec: ProfileSpec, file: SampleFile) -> Iterator[list[Point]]:
    """Rounds: in each are all points but those that are known well enough, or have all the samples
    that they may have. The adaptive order chooses first, a few at a time, until none is unknown.
    """
    if spec.rules.order == ADAPTIVE:
        yield from batches(spec, file)
    while left := [point for point in spec.points() if not _is_finished(spec, file, point)]:
        yield left


def _most(spec: ProfileSpec, file: SampleFile) -> int:
    """Samples that there may be at the end."""
    return max(spec.count * spec.rules.most, len(file.samples) + 1)


@contextmanager
def load_for(spec: ProfileSpec) -> Iterator[Load]:
    """What makes the load of a profile, in a place of its own that is gone afterwards."""
    if spec.hosts:
        of_hosts = hadoop_on if spec.filesystem else fio_on
        with of_hosts(spec.hosts, spec.data, spec.rules.sample) as hosts:
            yield hosts
        return
    if spec.filesystem:
        with hadoop_load(spec.data, spec.rules.sample) as load:
            yield load
        return
    if spec.pool:
        with rbd_load(spec.pool, spec.data, spec.rules.sample) as images:
            yield images
        return
    program = Fio.found()
    with data_folder(spec) as folder:
        yield Fio(program, folder, spec.rules.sample)


def _sample(spec: ProfileSpec, load: Load, point: Point) -> Sample:
    load.prepare(point)
    if spec.rules.before:
        _run_before(spec.rules.before)
    start, before = time.time_ns(), HostCounters.now()
    measured = load.measure(point)
    circumstances = HostCounters.now().since(before)
    return Sample(
        point=dict(point),
        start=start,
        bytes=measured.bytes,
        wall=measured.nanos,
        throughput=measured.bytes / (measured.nanos / 1e9),
        disturbed=circumstances.others > spec.rules.others,
        circumstances=circumstances,
    )


def _run_before(command: str) -> None:
    """Such as one that empties the caches of servers, which no other host can reach.

    Raises UserError: a sample without it would be of something else.
    """
    hangs = f"measure.before takes more than {_LONGEST_BEFORE:.0f} s: {command}"
    done = child.run(["sh", "-c", command], _LONGEST_BEFORE, hangs)
    if done.returncode:
        said = child.said(done)[-1]
        raise UserError(f"measure.before failed with {done.returncode}: {said}", command)


def _is_finished(spec: ProfileSpec, file: SampleFile, point: Point) -> bool:
    rules = spec.rules
    known = file.summary(point)
    if known.count >= rules.most or file.tries(point) >= PATIENCE * rules.most:
        return True
    return known.count >= rules.least and known.width <= rules.width


def _state(spec: ProfileSpec, file: SampleFile, ended_by_budget: bool) -> ProfileState:
    found = [file.summary(point) for point in spec.points()]
    rules = spec.rules
    return ProfileState(
        points=len(found),
        samples=len(file.samples),
        disturbed=sum(one.disturbed for one in file.samples),
        cut=sum(_is_cut(one) for one in file.samples),
        known=sum(one.count >= rules.least and one.width <= rules.width for one in found),
        wide=sum(one.count > 0 and one.width > rules.width for one in found),
        unmeasured=sum(one.count == 0 for one in found),
        ended_by_budget=ended_by_budget,
    )


def _is_cut(sample: Sample) -> bool:
    point = sample.point
    whole = int(point[SIZE.name]) * at_once(point)
    is_read = point[OPERATION.name] == "read" and point[ACCESS.name] == SEQUENTIAL
    return is_read and sample.bytes < whole
