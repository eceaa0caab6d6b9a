"""The critical path of a replay: what its end waited for, back to the begin of the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from iostrata.records import Record
from iostrata.replay.jobs import SHUFFLE, JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.schedule import Ran, Replay

BEFORE, WAITS = "before the first attempt", "waits for a container"
AFTER = "after the last attempt"
_SAME = 1e-7  # s: less than the shortest part, more than what sums of times are off by


class PathStretch(Record, frozen=True):
    """A stretch of the path: a part of an attempt by its name, or one of BEFORE, WAITS and AFTER,
    which have no task; from when until when, in seconds from the begin of the run.
    """

    name: str
    task: str
    since: float
    until: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.until - self.since


def critical_path(recorded: RecordedJobs, replayed: Replay) -> list[PathStretch]:
    """The path of a replay of `recorded`, in order of time: stretches follow each other from its
    begin to its end.

    From the attempt that ended last backwards: its parts, then the last map where it gathered, or
    the attempt whose end let it begin.
    """
    ran = {one.task: one for one in replayed.attempts}
    path = _Backwards(replayed.wall)
    jobs = [_JobPath(job, ran) for job in recorded.jobs]
    place = max(range(len(jobs)), key=lambda at: jobs[at].end, default=-1)
    while place >= 0:
        path.walk(jobs[place])
        place -= recorded.jobs[place].back
    return path.found()


def by_name(path: Iterable[PathStretch]) -> dict[str, float]:
    """Seconds on a path by the name of its stretches."""
    sums: dict[str, float] = defaultdict(float)
    for stretch in path:
        sums[stretch.name] += stretch.length
    return dict(sums)


class _JobPath:
    """A job, and when its attempts ran."""

    def __init__(self, job: ReplayedJob, ran: dict[str, Ran]) -> None:
        self._attempts = {one.task: one for one in job.attempts}
        self._ran = [ran[one.task] for one in job.attempts]
        self.first = min((one.start for one in self._ran), default=0.0)
        self.end = max((one.end for one in self._ran), default=0.0)

    def last(self) -> Ran | None:
        """The attempt that ended last."""
        return max(self._ran, key=lambda one: one.end, default=None)

    def known(self, one: Ran) -> JobAttempt:
        """What an attempt is made of."""
        return self._attempts[one.task]

    def last_map(self, until: float) -> Ran | None:
        """The map that ended last, no later than that."""
        return self._latest((one for one in self._ran if one.role == "map"), until)

    def cause(self, one: Ran) -> Ran | None:
        """The attempt whose end let another begin, by its container or as a map that it waited for;
        None where it waited for none.
        """
        asked = one.start - self.known(one).lag
        return self._latest((other for other in self._ran if other is not one), asked)

    @staticmethod
    def _latest(among: Iterable[Ran], until: float) -> Ran | None:
        ended = (one for one in among if one.end <= until + _SAME)
        return max(ended, key=lambda one: one.end, default=None)


class _Backwards:
    """Stretches from the last to the first; each ends where the one found before it begins."""

    def __init__(self, wall: float) -> None:
        self._at = wall
        self._stretches: list[PathStretch] = []

    def found(self) -> list[PathStretch]:
        """All stretches in order of time; what is left before the first is BEFORE, too."""
        self._to(BEFORE, 0.0)
        return self._stretches[::-1]

    def walk(self, job: _JobPath) -> None:
        """Goes on through a job to the begin of its first attempt."""
        one = job.last()
        if one:
            # behind the last job it is the end of the run, else the lead of the job that follows
            self._to(BEFORE if self._stretches else AFTER, one.end)
        seen = set()
        while one and one.task not in seen:
            seen.add(one.task)
            waited_for = self._parts(one, job)
            cause = waited_for or job.cause(one)
            if not waited_for:
                self._to(WAITS, max(job.first, cause.end if cause else job.first))
            one = cause

    def _parts(self, one: Ran, job: _JobPath) -> Ran | None:
        """Through the parts of an attempt; the map that one of them waited for, if there is one."""
        parts = job.known(one).parts
        for place in reversed(range(len(parts))):
            took = one.parts[place]
            self._to(SHUFFLE if parts[place].gathers else parts[place].name, took.since, one.task)
            gathered = place > 0 and parts[place - 1].gathers
            if gathered and took.since > one.parts[place - 1].until + _SAME:
                return job.last_map(took.since)
        return None

    def _to(self, name: str, since: float, task: str = "") -> None:
        """A stretch from there to where the path has come."""
        if since < self._at:
            self._stretches.append(PathStretch(name, task, since, self._at))
            self._at = since
