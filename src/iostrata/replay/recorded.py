"""The jobs of a recorded run, as a replay needs them: from its analyses, by phases of attempts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

from iostrata.analyse.attempts import Attempt, attempts, most_at_once
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.phases import Phase, phases
from iostrata.errors import UserError
from iostrata.replay.demands import Demands
from iostrata.replay.jobs import (
    SHUFFLE,
    START,
    TASK,
    AttemptPart,
    JobAttempt,
    RecordedJobs,
    ReplayedJob,
)
from iostrata.store.opened import OpenedRun

_ROLES = ("map", "reduce")
_GATHER = "gather"
_MOST_KEPT = 0.95  # of a part: what it needs takes some time


def recorded_jobs(opened: OpenedRun) -> RecordedJobs:
    """The jobs of MapReduce, or the stages of Spark, of a run, before they are fitted to how long
    they took.

    Raises UserError where there is none, where jobs ran at the same time, or where a history that
    the replay needs was not recorded.
    """
    run, engine = opened.run, DuckDb(opened)
    ran = [one for one in engine.records(attempts, Attempt) if one.stage or one.role in _ROLES]
    ended = [one for one in ran if one.start and one.end]
    if not ended:
        raise UserError(
            f"run {run.name} has no attempts of MapReduce or Spark",
            "a replay needs those; programs without tasks cannot be replayed",
        )
    if not run.end:
        raise UserError(f"run {run.name} has not ended", "wait for its end")
    demands = Demands(engine, run.start, ended)
    begun: dict[str, dict[str, float]] = defaultdict(dict)
    for phase in engine.records(phases, Phase):
        begun[phase.task][phase.phase] = demands.seconds(phase.start)
    containers = most_at_once((one.start or 0, one.end or 0) for one in ended)
    jobs = _Jobs(demands, ended, begun, containers).jobs()
    last = max(one.end for one in jobs[-1].attempts)
    wall = demands.seconds(run.end)
    return RecordedJobs(wall, wall - last, jobs, demands.cluster(containers), demands.copies())


class _Jobs:
    """Attempts with their parts, and what each waited for when it began."""

    def __init__(
        self,
        demands: Demands,
        ran: list[Attempt],
        begun: dict[str, dict[str, float]],
        containers: int,
    ) -> None:
        self._demands, self._ran, self._begun = demands, ran, begun
        self._containers = containers

    def jobs(self) -> tuple[ReplayedJob, ...]:
        """In order of time; raises UserError where two ran at once."""
        found: list[ReplayedJob] = []
        before = 0.0
        for name, rows in self._groups():
            begin = self._demands.seconds(rows[0].start)
            if begin < before:
                raise UserError(
                    f"jobs {found[-1].name} and {name} ran at the same time",
                    "only jobs that follow each other can be replayed",
                )
            asked = _Asked(rows, begin, self._demands.seconds)
            attempts_ = self._attempts(rows, begin, asked)
            found.append(ReplayedJob(name, begin - before, attempts_, asked.slow_start))
            before = max(one.end for one in found[-1].attempts)
        return tuple(found)

    def _groups(self) -> list[tuple[str, list[Attempt]]]:
        """Jobs, or stages, in order of their first attempt; stages of an application that ran at
        the same time are one.
        """
        rows: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
        for one in self._ran:
            rows[one.job or "", one.stage or ""].append(one)
        found: list[tuple[str, list[Attempt]]] = []
        for (job, stage), here in rows.items():
            last = found[-1][1] if found else []
            beside = max((one.end or 0 for one in last), default=0) > (here[0].start or 0)
            if stage and beside and last[0].stage and last[0].job == job:
                last += here
                last.sort(key=lambda one: one.start or 0)
            else:
                found.append((f"{job} {stage}".strip(), here))
        return found

    def _attempts(self, rows: list[Attempt], ready: float, asked: _Asked) -> tuple[JobAttempt, ...]:
        seconds = self._demands.seconds
        free, ends = [ready] * self._containers, [math.inf]
        found = []
        for one in rows:
            start, end = seconds(one.start), seconds(one.end)
            free += [moment for moment in ends if moment <= start]
            ends = [moment for moment in ends if moment > start] + [end]
            oldest = min(free)
            free.remove(oldest)
            after, since = asked.by(one)
            lag = max(0.0, start - max(since, oldest))
            parts = self._parts(one, start, end, asked.maps_end)
            names = (one.task, TASK if one.stage else one.role or "", one.host or "")
            # the main thread of a reduce waits for others of it, too
            blocked = None if one.role == "reduce" else self._demands.blocked(one)
            found.append(JobAttempt(*names, start, end, parts, after, lag, one.read, blocked))
        return tuple(found)

    def _parts(
        self, one: Attempt, start: float, end: float, maps_end: float
    ) -> tuple[AttemptPart, ...]:
        """From phase to phase. HDFS is written in the last of map or reduce."""
        waits_until = maps_end if one.role == "reduce" else None
        phases_ = _cuts(self._begun[one.task], start, end, waits_until)
        cuts = [(start, TASK)] if one.stage else phases_
        names = [name for _, name in cuts]
        writes = _last(names, ("map", "reduce"), len(names) - 1)
        reads = _last(names, ("map", SHUFFLE), 0)
        edges = [-math.inf, *(at for at, _ in cuts[1:]), math.inf]
        found = []
        for place, (at, name) in enumerate(cuts):
            used = self._demands.used(one.task, edges[place], edges[place + 1])
            length = (cuts[place + 1][0] if place + 1 < len(cuts) else end) - at
            read = dict(self._demands.read_for(one.task)) if place == reads else {}
            if used.fetched:
                read[one.host or ""] = read.get(one.host or "", 0.0) + used.fetched
            beside = 1.0 if one.stage or not used.own else used.cpu / used.own
            own = used.cpu if one.stage else used.own
            found.append(
                AttemptPart(
                    name=name,
                    start=at,
                    length=length,
                    cpu=used.cpu,
                    cores=beside * max(1.0, own / length if length > 0 else 1.0),
                    dirtied=used.dirtied,
                    hdfs=dict(self._demands.written_for(one.task)) if place == writes else {},
                    read=read,
                    kept=min(used.idle, _MOST_KEPT * length),
                    gathers=name == _GATHER,
                )
            )
        return tuple(found)


class _Asked:
    """When the ApplicationMaster asked for containers of the attempts of a job, at the latest: for
    maps when the job began, for reduces as `_OneJob._asked` of the schedule.
    """

    def __init__(
        self, rows: list[Attempt], ready: float, seconds: Callable[[int | None], float]
    ) -> None:
        self._ready, self._seconds = ready, seconds
        maps = [one for one in rows if one.role == "map"]
        self._ends = sorted(seconds(one.end) for one in maps)
        self._last_begin = max((seconds(one.start) for one in maps), default=ready)
        reduces = [seconds(one.start) for one in rows if one.role == "reduce"]
        self.slow_start = self._done(min(reduces)) if reduces else 0
        self.maps_end = self._ends[-1] if maps else 0.0

    def by(self, one: Attempt) -> tuple[int, float]:
        """Maps that were done when an attempt began, and when it could be asked for."""
        if one.role != "reduce":
            return 0, self._ready
        after = self._done(self._seconds(one.start))
        more = min(self._when_done(after), self._last_begin)
        return after, max(self._when_done(self.slow_start), more)

    def _done(self, when: float) -> int:
        return sum(end <= when for end in self._ends)

    def _when_done(self, maps: int) -> float:
        return self._ends[maps - 1] if maps else self._ready


def _cuts(
    begun: dict[str, float], start: float, end: float, maps_end: float | None
) -> list[tuple[float, str]]:
    """Where the parts of an attempt begin. `maps_end`: of a reduce, whose shuffle is cut there."""
    phases_ = sorted((at, name) for name, at in begun.items() if start < at < end)
    cuts = [(start, START), *phases_]
    names = [name for _, name in cuts]
    if maps_end is not None and SHUFFLE in names:
        place = names.index(SHUFFLE)
        at = cuts[place][0]
        until = cuts[place + 1][0] if place + 1 < len(cuts) else end
        cuts[place : place + 1] = [(at, _GATHER), (min(until, max(at, maps_end)), SHUFFLE)]
    return cuts


def _last(names: list[str], among: tuple[str, ...], otherwise: int) -> int:
    return max((place for place, name in enumerate(names) if name in among), default=otherwise)
