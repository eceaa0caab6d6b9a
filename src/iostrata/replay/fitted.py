"""A run that is fitted once, and replayed with one change after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

from iostrata.errors import InternalError, UserError
from iostrata.progress import Progress, silent
from iostrata.records import Record, Share
from iostrata.replay.alternative import Alternative, changed
from iostrata.replay.fitting import fits
from iostrata.replay.jobs import RecordedJobs
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.schedule import Replay, replay
from iostrata.store.opened import OpenedRun
from iostrata.text import plural

# Of changes that were made, nine of ten came as near to what was predicted: of the time with the
# change, and of what it saves of the time without (docs/guide/what-if.md has the measurements).
OFF = 0.22
OFF_GAIN = 0.07
MOST_ATTEMPTS = 200
MOST_SECONDS = 10.0  # that fits and replays may take, as far as one replay says
_OF_FIT, _FITS = 130, 4  # replays that a fit is worth, and what it finds at most


class Predicted(Record, frozen=True):
    """The time of a run with a change, in seconds; `low` and `high`: what nine of ten measured
    times of such changes were within, around all likely fits; `saves`: of the time of the run.
    """

    wall: float
    low: float
    high: float
    saves: Share


class FittedRun:
    """A run and all likely fits of it, each with its replay without a change."""

    def __init__(self, recorded: RecordedJobs, progress: Progress = silent) -> None:
        self.recorded = recorded
        self.likely = fits(recorded, progress)
        self.before = [replay(one) for one in self.likely]

    def after(self, changes: Sequence[Alternative]) -> tuple[Replay, Predicted]:
        """The most likely replay with changes, and what all of them predict; raises UserError."""
        after = [replay(changed(one, changes)) for one in self.likely]
        return after[0], self.predicted(after)

    def predicted(self, after: Sequence[Replay]) -> Predicted:
        """What replays of all likely fits with a change predict."""
        wall = self.recorded.wall
        # what a replay is off by, it is off by with the change, too
        walls = [wall * a.wall / b.wall for a, b in zip(after, self.before, strict=True)]
        low, high = min(walls) / (1 + OFF), max(walls) * (1 + OFF)
        return Predicted(walls[0], low, high, 1 - walls[0] / wall)


class Replays:
    """A run for those who may ask about changes of it: it is fitted once, when they do.

    `jobs` says what it is made of; raises UserError where it cannot be replayed.
    """

    def __init__(self, jobs: Callable[[], RecordedJobs]) -> None:
        self._jobs = jobs
        self._fitted: FittedRun | None = None

    @cached_property
    def recorded(self) -> RecordedJobs:
        """Its jobs, before they are fitted; raises UserError."""
        return self._jobs()

    def fitted(self, progress: Progress = silent) -> FittedRun:
        """Says the step "fit", if that is not done; raises UserError."""
        if self._fitted is None:
            self._fitted = FittedRun(self.recorded, progress)
        return self._fitted

    def gain(self, changes: Sequence[Alternative]) -> tuple[Share, Share] | None:
        """What changes save of the time of the run, the least and the most: nine of ten measured
        gains were so near. None where the run cannot be replayed with them, or for too long.
        """
        try:
            if not self._is_short:
                return None
            _, found = self.fitted().after(changes)
        except (UserError, InternalError):
            return None
        return max(0.0, found.saves - OFF_GAIN), max(0.0, min(1.0, found.saves + OFF_GAIN))

    @cached_property
    def _is_short(self) -> bool:
        try:
            return not too_long(self.recorded, _FITS)
        except (UserError, InternalError):
            return False


def replays_of(opened: OpenedRun) -> Replays:
    """Of a run in the store."""
    return Replays(lambda: recorded_jobs(opened))


def too_long(recorded: RecordedJobs, changes: int) -> str:
    """Why it would take too long to fit jobs and to replay them with so many changes; the empty
    string: it would not.
    """
    number = len(recorded.attempts)
    if number > MOST_ATTEMPTS:
        return (
            f"the run has {plural(number, 'attempt')}, and more than {MOST_ATTEMPTS} take too long "
            "to replay with every change"
        )
    begun = time.monotonic()
    replay(recorded)
    took = (time.monotonic() - begun) * (_OF_FIT + _FITS * changes)
    return "replays with every change would take too long" if took > MOST_SECONDS else ""
