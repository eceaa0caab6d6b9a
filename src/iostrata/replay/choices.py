"""A grid of changes of a recorded run: its replay with every combination of a few of each kind.

Whoever moves several sliders asks for changes that are made together, so each combination is
replayed, and none is put together from others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from iostrata.errors import UserError
from iostrata.progress import Progress, silent
from iostrata.records import Count, Ns, Record, Share
from iostrata.replay.alternative import Alternative, changed
from iostrata.replay.fitted import FittedRun, Replays, too_long
from iostrata.replay.hardware import containers, cores, faster_disks
from iostrata.replay.jobs import RecordedJobs
from iostrata.replay.path import by_name, critical_path
from iostrata.replay.schedule import Replay, replay
from iostrata.replay.settings import REPLICATION, setting

WHAT_IF = "what if"  # the step of progress
MOST_PARTS = 12  # with names of their own
_FITTING = 0.3  # of the whole time
_NEAR = 0.05
_OTHERS = "others"
_INSTEAD = "`iostrata what-if` makes one change"


class ChoiceDimension(Record, frozen=True):
    """Something that can be changed: its short name, what a slider of it says, and its values, of
    which the one at the place `recorded` is no change; `assumes`: half a sentence on the others.
    """

    name: str
    label: str
    values: list[str]
    recorded: Count
    assumes: str


class Combination(Record, frozen=True):
    """The run with one combination of values: its predicted time, and what nine of ten measured
    times were within (`iostrata.replay.whatif`); `path`: of this time, what each of `Choices.parts`
    has of the critical path; `roles`: the mean time of an attempt of each of `Choices.roles`.
    """

    predicted: Ns
    low: Ns
    high: Ns
    path: list[Ns]
    roles: list[Ns]


class Choices(Record, frozen=True):
    """A run with all combinations of values of all dimensions, those of the last changing first.

    `missing` says why there are none. `recorded`: the time of the run; `replayed`: that of its
    replay without a change; `kept`: of the time of attempts, what no change alters; `parts` are in
    the order in which they come on critical paths.
    """

    missing: str
    recorded: Ns
    replayed: Ns = 0
    kept: Share = 0.0
    dimensions: list[ChoiceDimension] = []  # noqa: RUF012 - msgspec copies it
    parts: list[str] = []  # noqa: RUF012
    roles: list[str] = []  # noqa: RUF012
    choices: list[Combination] = []  # noqa: RUF012


def choices(replays: Replays, progress: Progress = silent) -> Choices:
    """Replays a run with a grid of changes; says WHAT_IF. Raises UserError where it cannot be
    replayed.
    """
    recorded = replays.recorded
    dimensions = _dimensions(recorded)
    combinations = list(product(*(one.values for one in dimensions)))
    if reason := too_long(recorded, len(combinations)):
        return Choices(f"{reason}; {_INSTEAD}", _ns(recorded.wall))
    fitted = replays.fitted(lambda _, part=0.0: progress(WHAT_IF, _FITTING * part))
    grid = _Grid(fitted)
    for place, values in enumerate(combinations):
        progress(WHAT_IF, _FITTING + (1 - _FITTING) * place / len(combinations))
        grid.add([value.change for value in values if value.change])
    return grid.choices(dimensions)


@dataclass(frozen=True)
class _Value:
    """A value of a dimension; without a change, the recorded one."""

    text: str
    change: Alternative | None = None


@dataclass(frozen=True)
class _Dimension:
    name: str
    label: str
    values: tuple[_Value, ...]

    def possible(self, recorded: RecordedJobs) -> _Dimension:
        """With those of its values that the run says enough for."""
        values = tuple(value for value in self.values if _possible(recorded, value))
        return _Dimension(self.name, self.label, values)

    def shown(self) -> ChoiceDimension:
        """As those read it who have no run."""
        texts = [value.text for value in self.values]
        place = next(at for at, value in enumerate(self.values) if value.change is None)
        assumes = next(value.change.assumes for value in self.values if value.change)
        return ChoiceDimension(self.name, self.label, texts, place, assumes)


def _possible(recorded: RecordedJobs, value: _Value) -> bool:
    try:
        changed(recorded, [value.change] if value.change else [])
    except UserError:
        return False
    return True


def _dimensions(recorded: RecordedJobs) -> list[_Dimension]:
    """Those of which the run has at least one other value."""
    asked = (
        _Dimension("disks", "Speed of disks", _disks()),
        _Dimension("containers", "Attempts at once", _containers(recorded)),
        _Dimension("copies", "Copies of HDFS blocks", _copies(recorded)),
        _Dimension("cores", "Cores of each machine", _cores(recorded)),
    )
    found = (one.possible(recorded) for one in asked)
    return [one for one in found if len(one.values) > 1]


def _disks() -> tuple[_Value, ...]:
    half, *faster = (_Value(text, faster_disks(text)) for text in ("0.5x", "2x", "4x"))
    return (half, _Value("1x"), *faster)


def _containers(recorded: RecordedJobs) -> tuple[_Value, ...]:
    now = recorded.cluster.containers
    half = [now // 2] if now % 2 == 0 else []
    before, after = (
        [_Value(str(n), containers(n)) for n in numbers] for numbers in (half, [2 * now])
    )
    return (*before, _Value(str(now)), *after)


def _copies(recorded: RecordedJobs) -> tuple[_Value, ...]:
    now = recorded.copies or 0.0
    asked = [n for n in (1, 3) if abs(n - now) > _NEAR]
    below, above = (
        [_Value(str(n), setting(f"{REPLICATION}={n}")) for n in asked if (n > now) == more]
        for more in (False, True)
    )
    return (*below, _Value(f"{now:.1f}".removesuffix(".0")), *above)


def _cores(recorded: RecordedJobs) -> tuple[_Value, ...]:
    """Twice what jobs have of them, where all machines are alike."""
    now = {math.ceil(number - _NEAR) for number in recorded.cluster.cores.values()}
    twice = [_Value("2x", cores(2 * number)) for number in now] if len(now) == 1 else []
    return (_Value("1x"), *twice)


@dataclass(frozen=True)
class _Row:
    """A combination, in seconds."""

    predicted: float
    around: tuple[float, float]
    path: dict[str, float]
    means: list[float]


class _Grid:
    """Replays with one combination of changes after the other."""

    def __init__(self, fitted: FittedRun) -> None:
        self._fitted = fitted
        self._roles = sorted({one.role for one in fitted.recorded.attempts})
        self._parts: list[str] = []
        self._rows: list[_Row] = []

    def add(self, changes: Sequence[Alternative]) -> None:
        """The next combination."""
        of, before = self._fitted, self._fitted.before
        jobs = [changed(one, changes) for one in of.likely]
        after = [replay(one) for one in jobs] if changes else before
        found, exact = of.predicted(after), of.recorded.wall / before[0].wall
        path: dict[str, float] = defaultdict(float)
        for name, length in by_name(critical_path(jobs[0], after[0])).items():
            path[self._part(name)] += length * exact
        # that no change was made is no prediction
        around = (found.low, found.high) if changes else (found.wall, found.wall)
        means = [_mean(after[0], role) for role in self._roles]
        self._rows.append(_Row(found.wall, around, path, means))

    def choices(self, dimensions: Iterable[_Dimension]) -> Choices:
        """All that were added."""
        return Choices(
            missing="",
            recorded=_ns(self._fitted.recorded.wall),
            replayed=_ns(self._fitted.before[0].wall),
            kept=self._fitted.likely[0].kept,
            dimensions=[one.shown() for one in dimensions],
            parts=self._parts,
            roles=self._roles,
            choices=[self._choice(row) for row in self._rows],
        )

    def _part(self, name: str) -> str:
        """The name of a part as it is shown; a trace may have any number of them."""
        if name not in self._parts and len(self._parts) >= MOST_PARTS:
            name = _OTHERS
        if name not in self._parts:
            self._parts.append(name)
        return name

    def _choice(self, row: _Row) -> Combination:
        return Combination(
            predicted=_ns(row.predicted),
            low=_ns(row.around[0]),
            high=_ns(row.around[1]),
            path=[_ns(row.path.get(name, 0.0)) for name in self._parts],
            roles=[_ns(mean) for mean in row.means],
        )


def _mean(replayed: Replay, role: str) -> float:
    times = [one.end - one.start for one in replayed.attempts if one.role == role]
    return sum(times) / max(1, len(times))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
