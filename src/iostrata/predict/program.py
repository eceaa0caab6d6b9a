"""Recorded programs as a load: how long one takes on a storage that was profiled (S5.5, S5.6).

The paper divides bytes by the throughput of a storage, and errs by what a program computes. A trace
knows that: of each moment of the run, what was moved, and how long nobody computed while somebody
waited in a call on a file. Without these waits the program takes as long on any storage; what it
moves takes as long as the profile says, at the same time (the kernel reads ahead, and writes
behind) or, where a single thread reads at random or past the page cache, after it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.analyse.axis import axis_of
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.program_io import (
    FileBytes,
    FileLoad,
    InIo,
    file_bytes,
    file_loads,
    in_io,
)
from iostrata.analyse.usage import ProcessUsage, process_usage
from iostrata.errors import UserError
from iostrata.predict.dimensions import (
    ACCESS,
    CACHE,
    CLIENTS,
    OPERATION,
    REQUEST,
    SEQUENTIAL,
    SIZE,
    skew,
)
from iostrata.predict.model import Prediction, StorageModel, given, predict
from iostrata.store.opened import OpenedRun

# Of the whole time, on both sides: what a program is off by whose storage keeps to its model. Of
# nine cases that were measured eight were within (docs/studies.md, predict-paper, 2026-11-30; the
# ninth was beyond the profile).
OFF = 0.1
_FEW = 0.05  # of what is moved in a moment: a thread with less is no client
_MATTERS = 0.05  # of the time of all that is moved: what lies beyond a profile and takes less
_READAHEAD = 128 << 10  # bytes: the least that the kernel asks of a storage, in sequence
_LEAST = 512  # bytes of a request, or a file, of any storage
_AS_GOOD = 0.1  # of a request or file: as large as one that was profiled
_OPERATION = {"read": "read", "written": "write"}


@dataclass(frozen=True)
class ProgramLoad:
    """Bytes that were moved alike: `write` or `read`, in sequence or at random, by so many threads
    at once, in files of `size`, by requests of `request` bytes. `again`: the run had read it
    before, so that it is in memory, unless each request goes to the storage.
    """

    operation: str
    sequential: bool
    clients: int
    request: int
    size: int
    bytes: float
    again: bool = False


@dataclass(frozen=True)
class Moment:
    """A part of the run: ns that it took without waiting for files, and what it moved meanwhile."""

    rest: float
    loads: tuple[ProgramLoad, ...]


@dataclass(frozen=True)
class Program:
    """A recorded run as moments, one after the other; `recorded`: ns that they took. `unsynced`:
    bytes that were written to files that nobody synced, which are in no load.
    """

    recorded: int
    moments: tuple[Moment, ...]
    unsynced: int

    @property
    def bytes(self) -> float:
        """Of all loads, each once."""
        return self._sum(again=False)

    @property
    def again(self) -> float:
        """Bytes that were read again."""
        return self._sum(again=True)

    def _sum(self, again: bool) -> float:
        loads = [load for moment in self.moments for load in moment.loads]
        return sum(load.bytes for load in loads if load.again == again)

    @property
    def rest(self) -> float:
        """ns that it takes where nobody waits for files."""
        return sum(moment.rest for moment in self.moments)


@dataclass(frozen=True)
class ProgramTimes:
    """ns of a program on a storage, the likely one, the least and the most; `moving`: of the
    `bytes` that it moves alone.
    """

    time: float
    least: float
    most: float
    bytes: float
    moving: Prediction


def recorded_program(opened: OpenedRun, folder: str = "") -> Program:
    """What the programs of a run did at files in `folder`, or at all files.

    Raises UserError where that is nothing, where no call on files was recorded individually, or
    where tasks of a cluster ran, which wait for each other and for containers.
    """
    run, engine = opened.run, DuckDb(opened)
    if not run.start or not run.end:
        raise UserError(f"run {run.name} has not ended", "wait for its end")
    if any(one.is_scheduled for one in engine.records(attempts, Attempt)):
        raise UserError(
            f"run {run.name} has tasks of MapReduce or Spark",
            "iostrata what-if replays those, with --storage and --instead-of, too",
        )
    axis = axis_of(opened)
    rows = engine.records(file_loads(axis.start, axis.bin, folder), FileLoad)
    scale = _checked_scale(opened, rows, folder)
    loads = _loads(rows, scale)
    if not loads:
        raise UserError(
            f"run {run.name} read no file and synced none that it wrote",
            "what it wrote may stay in memory on any storage",
        )
    cpu: dict[int, int] = defaultdict(int)
    for use in engine.records(process_usage(axis.start, axis.bin), ProcessUsage):
        cpu[use.bin] += use.cpu
    waits = {one.bin: one.time for one in engine.records(in_io(axis.start, axis.bin, folder), InIo)}
    wall, last = run.end - run.start, max(loads)
    widths = [
        max(0, min(axis.bin, wall - place * axis.bin))
        for place in range(max(last, (wall - 1) // axis.bin) + 1)
    ]
    moments = tuple(
        _moment(width, cpu[place], waits.get(place, 0), loads.get(place, ()))
        for place, width in enumerate(widths)
    )
    unsynced = sum(row.bytes for row in rows if _is_kept(row)) * scale.get("written", 0.0)
    return Program(wall, moments, round(unsynced))


def _checked_scale(opened: OpenedRun, rows: Sequence[FileLoad], folder: str) -> dict[str, float]:
    name, where = opened.run.name, f"in {folder}" if folder else "by its own calls (posix, java)"
    [moved] = DuckDb(opened).records(file_bytes(folder), FileBytes)
    if not moved.read + moved.written:
        raise UserError(
            f"run {name} moved no bytes of files {where}",
            "record programs that are no JVM with --native",
        )
    scale = _scale(rows, moved)
    if not scale:
        raise UserError(
            f"calls on files of run {name} are in sums only",
            "record it with --budget off and --level record",
        )
    return scale


def _scale(rows: Sequence[FileLoad], moved: FileBytes) -> dict[str, float]:
    """By how much calls that are in sums alone make more of those that were recorded."""
    known: dict[str, int] = defaultdict(int)
    for row in rows:
        known[row.direction] += row.bytes
    every = {"read": moved.read, "written": moved.written}
    return {name: every[name] / amount for name, amount in known.items() if amount}


def _is_kept(row: FileLoad) -> bool:
    """Whether it may stay in memory: nobody asked for it to be on the storage."""
    return row.direction == "written" and not row.synced


def _loads(
    rows: Sequence[FileLoad], scale: Mapping[str, float]
) -> dict[int, tuple[ProgramLoad, ...]]:
    """By bin."""
    groups: dict[tuple[int, str, bool, bool], list[FileLoad]] = defaultdict(list)
    for row in rows:
        if row.direction not in _OPERATION or _is_kept(row):
            continue
        groups[row.bin, row.direction, row.sequential, row.again].append(row)
    found: dict[int, tuple[ProgramLoad, ...]] = {}
    for (place, direction, sequential, again), some in sorted(groups.items()):
        amount = sum(row.bytes for row in some)
        threads: dict[tuple[int | None, int | None], int] = defaultdict(int)
        for row in some:
            threads[row.proc, row.tid] += row.bytes
        clients = [thread for thread, moved in threads.items() if moved >= _FEW * amount]
        request = amount / sum(row.requests for row in some)
        size = sum(row.size * row.bytes for row in some) / amount
        load = ProgramLoad(
            _OPERATION[direction],
            sequential,
            len(clients),
            round(request),
            round(size),
            amount * scale[direction],
            again,
        )
        found[place] = (*found.get(place, ()), load)
    return found


def _moment(width: int, cpu: int, in_calls: int, loads: tuple[ProgramLoad, ...]) -> Moment:
    """What nobody computed while somebody was in a call on a file, was waiting for it."""
    waited = min(in_calls, max(width - cpu, 0))
    return Moment(width - waited, loads)


def times(program: Program, model: StorageModel, words: Sequence[str] = ()) -> ProgramTimes:
    """How long a program takes on the storage of a model.

    `words`: `NAME=VALUE` of dimensions, in place of what the run says. Raises UserError where a
    dimension of the model is not known from either.
    """
    asked = _Asked(model, words)
    low, middle, high = (
        sum(asked.took(moment, by) for moment in program.moments) for by in (1, 0, -1)
    )
    least = middle - math.hypot(middle - low, OFF * middle)
    most = middle + math.hypot(high - middle, OFF * middle)
    loads = [load for moment in program.moments for load in asked.loads(moment)]
    amount = sum(load.bytes for load in loads)
    rate, slow, fast = (
        amount / sum(load.bytes / asked.rate(load, by) for load in loads) for by in (0, -1, 1)
    )
    moving = Prediction(rate, slow, fast, asked.outside(loads))
    return ProgramTimes(middle, max(least, 0.0), most, amount, moving)


class _Asked:
    """A model that is asked for loads."""

    def __init__(self, model: StorageModel, words: Sequence[str]) -> None:
        self._model, self._words = model, list(words)
        self._said = {word.partition("=")[0] for word in words}
        self._direct = self._values(CACHE.name) == ["direct"]
        self._known: dict[tuple[object, ...], Prediction] = {}

    def took(self, moment: Moment, by: int) -> float:
        """ns; `by` says where in its interval the storage is: 1 at the top, 0, -1 at the end."""
        meanwhile = after = 0.0
        for load in self.loads(moment):
            took = 1e9 * load.bytes / self.rate(load, by)
            if load.clients == 1 and (self._direct or not load.sequential):
                after += took
            else:
                meanwhile += took
        return max(moment.rest, meanwhile) + after

    def loads(self, moment: Moment) -> list[ProgramLoad]:
        """What goes to the storage: through the page cache, nothing is read twice."""
        return [load for load in moment.loads if self._direct or not load.again]

    def rate(self, load: ProgramLoad, by: int = 0) -> float:
        """Bytes/s."""
        found = self._of(load)
        return {1: found.high, 0: found.throughput, -1: found.low}[by]

    def outside(self, loads: Sequence[ProgramLoad]) -> list[str]:
        """What lies beyond the profile and matters: a program reads its headers by some bytes."""
        took: dict[str, float] = defaultdict(float)
        for load in loads:
            for text in self._of(load).outside:
                took[text] += load.bytes / self.rate(load)
        least = _MATTERS * sum(load.bytes / self.rate(load) for load in loads)
        found = []
        for dimension in dict.fromkeys(text.partition(" ")[0] for text in took):
            some = {text: of for text, of in took.items() if text.startswith(f"{dimension} ")}
            if sum(some.values()) >= least:
                found.append(max(some, key=lambda text: took[text]))
        return found

    def _of(self, load: ProgramLoad) -> Prediction:
        key = (load.operation, load.sequential, load.clients, load.request, load.size)
        if key not in self._known:
            self._known[key] = self._ask(load)
        return self._known[key]

    def _ask(self, load: ProgramLoad) -> Prediction:
        known = {
            OPERATION.name: load.operation,
            ACCESS.name: SEQUENTIAL if load.sequential else self._at_random(),
            CLIENTS.name: load.clients,
            REQUEST.name: self._request(load),
            SIZE.name: self._nearly(SIZE.name, max(load.size, _LEAST)),
        }
        own = [
            f"{name}={value}"
            for name, value in known.items()
            if name in self._model.dimensions and name not in self._said
        ]
        return predict(self._model, given(self._model, [*own, *self._words]))

    def _values(self, name: str) -> list[str | int]:
        said = [word.partition("=")[2] for word in self._words if word.startswith(f"{name}=")]
        return [*said] or self._model.dimensions.get(name, [])

    def _at_random(self) -> str:
        """Of the skews that were profiled the one that is nearest to none."""
        skews = [str(one) for one in self._values(ACCESS.name) if one != SEQUENTIAL]
        return min(skews, key=_how_skewed, default="50-50")

    def _request(self, load: ProgramLoad) -> int:
        """Who reads in sequence through the page cache asks the storage for what the kernel asks
        for, whatever its own requests are.
        """
        if not self._direct and load.sequential:
            return self._within(REQUEST.name, max(load.request, _READAHEAD))
        return self._nearly(REQUEST.name, max(load.request, _LEAST))

    def _nearly(self, name: str, asked: int) -> int:
        """Likewise, where it is as good as that: a mean is seldom round."""
        nearest = self._within(name, asked)
        return nearest if abs(asked / nearest - 1) < _AS_GOOD else asked

    def _within(self, name: str, value: int) -> int:
        """The nearest value to one that was profiled."""
        profiled = [int(one) for one in self._model.dimensions.get(name, [])] or [value]
        return min(max(value, min(profiled)), max(profiled))


def _how_skewed(access: str) -> int:
    accesses, data = skew(access)
    return abs(accesses - data)
