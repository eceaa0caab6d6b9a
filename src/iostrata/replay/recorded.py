"""The jobs of a recorded run, as a replay needs them: from its analyses, by phases of attempts."""

from __future__ import annotations

import math
from collections import defaultdict

from iostrata.analyse.attempts import Attempt, attempts, most_at_once
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.phases import Phase, phases
from iostrata.errors import UserError
from iostrata.replay.demands import Demands
from iostrata.replay.jobs import SHUFFLE, START, AttemptPart, JobAttempt, RecordedJobs, ReplayedJob
from iostrata.store.opened import OpenedRun

_GATHER = "gather"
_MOST_KEPT = 0.95  # of a part: what it needs takes some time


def recorded_jobs(opened: OpenedRun) -> RecordedJobs:
    """The jobs of MapReduce of a run, before they are fitted to how long they took.

    Raises UserError where there is none, where jobs ran at the same time, or where a history that
    the replay needs was not recorded.
    """
    run, engine = opened.run, DuckDb(opened)
    found = [one for one in engine.records(attempts, Attempt) if one.stage is None]
    ended = [one for one in found if one.role in ("map", "reduce") and one.start and one.end]
    if not ended:
        raise UserError(
            f"run {run.name} has no attempts of MapReduce",
            "a replay needs those; tasks of Spark and programs without tasks cannot be replayed",
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
        by_job: dict[str, list[Attempt]] = defaultdict(list)
        for one in self._ran:
            by_job[one.job or ""].append(one)
        found: list[ReplayedJob] = []
        before = 0.0
        for name, rows in by_job.items():  # in order of their first attempt
            begin = self._demands.seconds(rows[0].start)
            if begin < before:
                raise UserError(
                    f"jobs {found[-1].name} and {name} ran at the same time",
                    "only jobs that follow each other can be replayed",
                )
            found.append(ReplayedJob(name, begin - before, self._attempts(rows, begin)))
            before = max(one.end for one in found[-1].attempts)
        return tuple(found)

    def _attempts(self, rows: list[Attempt], ready: float) -> tuple[JobAttempt, ...]:
        seconds = self._demands.seconds
        maps = sorted(seconds(one.end) for one in rows if one.role == "map")
        first = min((seconds(one.start) for one in rows if one.role == "reduce"), default=0.0)
        after = sum(end <= first for end in maps)
        free, ends = [ready] * self._containers, [math.inf]
        found = []
        for one in rows:
            start, end = seconds(one.start), seconds(one.end)
            free += [moment for moment in ends if moment <= start]
            ends = [moment for moment in ends if moment > start] + [end]
            oldest = min(free)
            free.remove(oldest)
            needs = after if one.role == "reduce" else 0
            lag = max(0.0, start - max(maps[needs - 1] if needs else ready, oldest))
            parts = self._parts(one, start, end, maps[-1] if maps else 0.0)
            names = (one.task, one.role or "", one.host or "")
            found.append(JobAttempt(*names, start, end, parts, needs, lag, one.read))
        return tuple(found)

    def _parts(
        self, one: Attempt, start: float, end: float, maps_end: float
    ) -> tuple[AttemptPart, ...]:
        """From phase to phase. HDFS is written in the last of map or reduce."""
        cuts = _cuts(self._begun[one.task], start, end, maps_end if one.role == "reduce" else None)
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
            beside = used.cpu / used.own if used.own else 1.0
            found.append(
                AttemptPart(
                    name=name,
                    start=at,
                    length=length,
                    cpu=used.cpu,
                    cores=beside * max(1.0, used.own / length if length > 0 else 1.0),
                    dirtied=used.dirtied,
                    hdfs=dict(self._demands.written_for(one.task)) if place == writes else {},
                    read=read,
                    kept=min(used.idle, _MOST_KEPT * length),
                    gathers=name == _GATHER,
                )
            )
        return tuple(found)


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
