"""The jobs of a recorded run, as a replay needs them: from its analyses, by phases of attempts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable

from iostrata.analyse.attempts import Attempt, attempts, most_at_once
from iostrata.analyse.demands import MapMerge, map_merges
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.phases import Phase, phases
from iostrata.errors import UserError
from iostrata.replay.demands import Demands
from iostrata.replay.jobs import (
    MERGE,
    SHUFFLE,
    START,
    TASK,
    AttemptPart,
    JobAttempt,
    RecordedJobs,
    ReplayedJob,
)
from iostrata.replay.served import Window, by_length
from iostrata.store.opened import OpenedRun

_GATHER = "gather"
# s: a task of Spark that leaves a free slot for longer waits for one near its input.
_LONG_LAG = 1.0
_LEAST_PIECE = 0.5  # s of a part
_MOST_KEPT = 0.95  # of a part: what it needs takes some time

# A part: its name, and from when until when it ran, in seconds.
_Stretch = tuple[str, float, float]


def recorded_jobs(opened: OpenedRun) -> RecordedJobs:
    """The jobs of MapReduce, or the stages of Spark, of a run, before they are fitted to how long
    they took.

    Raises UserError where there is none, or where a history that the replay needs was not recorded.
    """
    run, engine = opened.run, DuckDb(opened)
    ran = [one for one in engine.records(attempts, Attempt) if one.is_scheduled]
    ended = [one for one in ran if one.start and one.end]
    if not ended:
        raise UserError(
            f"run {run.name} has no attempts of MapReduce or Spark",
            "a replay needs those; for other programs, ask iostrata predict MODEL --run RUN",
        )
    if not run.end:
        raise UserError(f"run {run.name} has not ended", "wait for its end")
    demands = Demands(engine, run.start, ended)
    begun: dict[str, dict[str, float]] = defaultdict(dict)
    for phase in engine.records(phases, Phase):
        begun[phase.task][phase.phase] = demands.seconds(phase.start)
    several = {one.task for one in ended if one.spills > 1}
    for merge in engine.records(map_merges, MapMerge):
        if merge.task in several:
            begun[merge.task][MERGE] = demands.seconds(merge.start)
    containers = most_at_once((one.start or 0, one.end or 0) for one in ended)
    jobs = _Jobs(demands, ended, begun, containers).jobs()
    last = max(one.end for job in jobs for one in job.attempts)
    wall = demands.seconds(run.end)
    return RecordedJobs(
        wall,
        wall - last,
        jobs,
        demands.cluster(containers),
        demands.copies(),
        run.cluster.configuration,
    )


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
        self._free = self._free_since()
        self._hosts = _hosts_of_outputs(ran)

    def jobs(self) -> tuple[ReplayedJob, ...]:
        """In order of time. A job follows the one that had ended last when it began; a stage of
        Spark follows one of its own application, if it can.
        """
        found: list[ReplayedJob] = []
        applications: list[str] = []
        ends: list[float] = []
        for name, rows in self._groups():
            begin = self._demands.seconds(rows[0].start)
            application = (rows[0].job or "") if rows[0].stage else ""
            ended = [
                (bool(application) and applications[place] == application, end, place)
                for place, end in enumerate(ends)
                if end <= begin
            ]
            _, end, last = max(ended, default=(False, 0.0, -1))
            asked = _Asked(rows, begin, self._demands.seconds)
            attempts_ = self._attempts(rows, begin, asked)
            back = len(found) - last
            master = self._demands.master(rows[0].job or "") if not rows[0].stage else ""
            found.append(ReplayedJob(name, begin - end, attempts_, asked.slow_start, back, master))
            applications.append(application)
            ends.append(max(one.end for one in attempts_))
        return tuple(found)

    def _groups(self) -> list[tuple[str, list[Attempt]]]:
        """Jobs, or stages, in order of their first attempt."""
        rows: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
        for one in self._ran:
            rows[one.job or "", one.stage or ""].append(one)
        return [(f"{job} {stage}".strip(), here) for (job, stage), here in rows.items()]

    def _free_since(self) -> dict[str, float]:
        """Since when the container had been free that each attempt got."""
        free, found = [0.0] * self._containers, {}
        ends: list[float] = []
        for one in self._ran:
            start, end = self._demands.seconds(one.start), self._demands.seconds(one.end)
            free += [moment for moment in ends if moment <= start]
            ends = [moment for moment in ends if moment > start] + [end]
            found[one.task] = min(free)
            free.remove(found[one.task])
        return found

    def _attempts(self, rows: list[Attempt], ready: float, asked: _Asked) -> tuple[JobAttempt, ...]:
        seconds = self._demands.seconds
        found = []
        for one in rows:
            start, end = seconds(one.start), seconds(one.end)
            after, since = asked.by(one)
            lag = max(0.0, start - max(since, self._free[one.task]))
            apart = start - ready if one.stage and lag > _LONG_LAG else 0.0
            lag = 0.0 if apart else lag
            parts = self._parts(one, start, end, asked.maps_end)
            found.append(
                JobAttempt(
                    task=one.task,
                    role=TASK if one.stage else one.role or "",
                    host=one.host or "",
                    start=start,
                    end=end,
                    parts=parts,
                    after=after,
                    lag=lag,
                    apart=apart,
                    read=one.read,
                    spills=one.spills,
                    # the main thread of a reduce waits for others of it, too
                    blocked=None if one.role == "reduce" else self._demands.blocked(one),
                )
            )
        return tuple(found)

    def _parts(
        self, one: Attempt, start: float, end: float, maps_end: float
    ) -> tuple[AttemptPart, ...]:
        """From phase to phase. HDFS is written in the last of map or reduce."""
        waits_until = maps_end if one.role == "reduce" else None
        phases_ = _cuts(self._begun[one.task], start, end, waits_until)
        cuts = [(start, TASK)] if one.stage else phases_
        writing = _last([name for _, name in cuts], ("map", "reduce"), len(cuts) - 1)
        reading = _last([name for _, name in cuts], ("map", SHUFFLE), 0)
        stretches = _turned(cuts, end, self._demands.turns(one.host or ""))
        hdfs = self._served(self._demands.served.writes, one, stretches, cuts[writing][1])
        read = self._served(self._demands.served.reads, one, stretches, cuts[reading][1])
        came = self._came(one, stretches, cuts[reading][1])
        found = []
        for place, (name, since, until) in enumerate(stretches):
            first, last = place == 0, place == len(stretches) - 1
            edges = (-math.inf if first else since, math.inf if last else until)
            used, length = self._demands.used(one.task, *edges), until - since
            if used.fetched:
                of_host = read[place].get(one.host or "", 0.0)
                read[place] = {**read[place], one.host or "": of_host + used.fetched}
            beside = 1.0 if one.stage or not used.own else used.cpu / used.own
            own = used.cpu if one.stage else used.own
            found.append(
                AttemptPart(
                    name=name,
                    start=since,
                    length=length,
                    cpu=used.cpu,
                    cores=beside * max(1.0, own / length if length > 0 else 1.0),
                    dirtied=used.dirtied,
                    hdfs=hdfs[place],
                    read=read[place],
                    kept=min(used.idle, _MOST_KEPT * length),
                    gathers=name == _GATHER,
                    came=came[place],
                )
            )
        return tuple(found)

    def _came(
        self, one: Attempt, stretches: list[_Stretch], reading: str
    ) -> list[dict[str, float]]:
        """By host, what was sent for an attempt in each stretch: by DataNodes, and of the shuffle,
        of which each host has as much as of the attempts that wrote it.
        """
        found = self._served(self._demands.served.sends, one, stretches, reading)
        fetched = {host: one.fetched * part for host, part in self._hosts[one.job or ""].items()}
        shuffled = self._served(
            lambda _, windows: by_length(fetched, windows),
            one,
            stretches,
            TASK if one.stage else SHUFFLE,
        )
        return [
            {host: of.get(host, 0.0) + more.get(host, 0.0) for host in {*of, *more}}
            for of, more in zip(found, shuffled, strict=True)
        ]

    @staticmethod
    def _served(
        share_out: Callable[[str, list[Window]], list[dict[str, float]]],
        one: Attempt,
        stretches: list[_Stretch],
        name: str,
    ) -> list[dict[str, float]]:
        """By host, what servers did in each stretch; only in those of phase `name`."""
        places = [place for place, stretch in enumerate(stretches) if stretch[0] == name]
        found: list[dict[str, float]] = [{} for _ in stretches]
        windows = [stretches[place][1:] for place in places]
        for place, amounts in zip(places, share_out(one.task, windows), strict=True):
            found[place] = amounts
        return found


def _hosts_of_outputs(ran: list[Attempt]) -> dict[str, dict[str, float]]:
    """By job and host, the part of the attempts whose outputs are shuffled: maps, or all tasks of
    Spark.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in ran:
        if one.role != "reduce":
            counts[one.job or ""][one.host or ""] += 1
    return defaultdict(
        dict,
        {
            job: {host: number / of.total() for host, number in of.items()}
            for job, of in counts.items()
        },
    )


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


def _turned(cuts: list[tuple[float, str]], end: float, turns: list[float]) -> list[_Stretch]:
    """Parts, cut where what holds the machine back becomes another: otherwise what a part had to
    wait for in one half of its time would seem to be free in both.
    """
    found: list[_Stretch] = []
    for (since, name), (until, _) in zip(cuts, [*cuts[1:], (end, "")], strict=True):
        for turn in turns:
            whole = name not in (START, _GATHER)
            if whole and turn - since >= _LEAST_PIECE and until - turn >= _LEAST_PIECE:
                found.append((name, since, turn))
                since = turn
        found.append((name, since, until))
    return found


def _last(names: list[str], among: tuple[str, ...], otherwise: int) -> int:
    return max((place for place, name in enumerate(names) if name in among), default=otherwise)
