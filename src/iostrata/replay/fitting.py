"""What a trace leaves open is fitted, so that the replay of each attempt takes as long as it took.

Parts are replayed as they were recorded to begin, so that each has the others beside it that it
had, and what was fitted is changed until they end when they ended.
"""

from __future__ import annotations

import math
from itertools import product
from operator import itemgetter

import msgspec

from iostrata.progress import Progress, silent
from iostrata.replay.flows import Flows, PartFlow, Took
from iostrata.replay.jobs import AttemptPart, JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.schedule import replay, with_usual_hosts

_RATES = (1.0, 0.85, 0.7, 0.6, 0.5)
_ROOMS = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
_STEPS = (0.83, 0.93, 1.0, 1.07)
_MOST_TRIED = len(_RATES) * len(_ROOMS) + len(_STEPS) ** 2
_AS_LIKELY = 1.2
_MOST_FITS = 4
_PINNED = 10  # rounds
_FREE, _MOST_FREE = 6, 30
_NEAR = 0.01  # of the time of the run
_MOST_DRAG = 2.5
_DAMPED = 0.5
_MOST_WEIGHT = 4.0
_MUCH = 0.3  # of the time of a part: what it waits for most
_LITTLE = 0.05


def fits(recorded: RecordedJobs, progress: Progress = silent) -> list[RecordedJobs]:
    """The jobs as they may be: all take as long as recorded when they are replayed, the first of
    them most exactly. The step is "fit".

    How fast disks are when all use them, and how many dirty bytes they let wait, is not recorded:
    both are tried, as parts of the most that was seen, and those kept with which the parts of
    attempts take nearly as long as they did.
    """
    tried: dict[tuple[float, float], tuple[float, RecordedJobs]] = {}

    def try_out(rates: tuple[float, ...], rooms: tuple[float, ...]) -> tuple[float, float]:
        """The best of all that were tried."""
        for place in product(rates, rooms):
            progress("fit", len(tried) / 2 / _MOST_TRIED)
            one = _with_disks(recorded, *place)
            tried[place] = (_misfit(one), one)
        return min(tried, key=lambda place: tried[place][0])

    if recorded.cluster.disks:
        rate, room = try_out(_RATES, _ROOMS)
        try_out(*(tuple(value * step for step in _STEPS) for value in (rate, room)))
    else:
        try_out((1.0,), (1.0,))
    least = min(misfit for misfit, _ in tried.values())
    likely = sorted(
        (one for one in tried.values() if one[0] <= least * _AS_LIKELY), key=itemgetter(0)
    )
    found = []
    for number, (_, one) in enumerate(likely := likely[:_MOST_FITS]):
        progress("fit", 0.5 + number / 2 / len(likely))
        found.append(_fitted(one))
    return sorted(found, key=lambda one: abs(replay(one).wall - one.wall))


def pinned(recorded: RecordedJobs) -> list[list[Took]]:
    """What each part of each attempt takes, where all begin when they were recorded to."""
    flows = Flows(recorded.cluster)
    attempts = recorded.attempts
    places = [(row, at) for row, one in enumerate(attempts) for at in range(len(one.parts))]
    places.sort(key=lambda place: attempts[place[0]].parts[place[1]].start)
    found = [[Took(0.0, 0.0)] * len(one.parts) for one in attempts]
    begun: dict[PartFlow, tuple[int, int]] = {}

    def go_on(limit: float) -> None:
        while flows.flowing and flows.time < limit - 1e-9:
            for flow in flows.until(limit):
                row, at = begun.pop(flow)
                found[row][at] = flow.took(flows.time)
        if not flows.flowing and flows.time < limit < math.inf:
            flows.until(limit)

    for row, at in places:
        part = attempts[row].parts[at]
        go_on(part.start)
        begun[flows.begin(part, attempts[row].host)] = (row, at)
    go_on(math.inf)
    return found


def _fitted(recorded: RecordedJobs) -> RecordedJobs:
    """First by parts that begin when they were recorded to, then by those of a whole replay, until
    it takes as long as the run did.
    """
    for _ in range(_PINNED):
        recorded = _all_nearer(recorded, pinned(recorded))
    for number in range(_MOST_FREE):
        done = replay(recorded)
        if number >= _FREE and abs(done.wall / recorded.wall - 1) < _NEAR:
            break
        ran = {one.task: list(one.parts) for one in done.attempts}
        recorded = _all_nearer(recorded, [ran[one.task] for one in recorded.attempts])
    return with_usual_hosts(recorded)


def _all_nearer(recorded: RecordedJobs, took: list[list[Took]]) -> RecordedJobs:
    rows = iter(took)

    def nearer(_: ReplayedJob, one: JobAttempt) -> JobAttempt:
        parts = (
            part if part.gathers else _nearer(part, of)
            for part, of in zip(one.parts, next(rows), strict=True)
        )
        return msgspec.structs.replace(one, parts=tuple(parts))

    return recorded.with_attempts(nearer)


def _nearer(part: AttemptPart, took: Took) -> AttemptPart:
    """Nearer to its recorded length, by what it waited for most: a disk, or a CPU that others used;
    else what it needs neither for becomes longer, or all that it needs less.
    """
    if took.waited > _MUCH * took.length:
        return _by_drag(part, took)
    if took.shared > _MUCH * took.length:
        aim = max(_LITTLE * took.length, part.length - part.kept)
        factor = min(1.3, max(0.7, ((took.length - part.kept) / aim) ** _DAMPED))
        weight = part.weight * factor
        if 1 / _MOST_WEIGHT < weight < _MOST_WEIGHT:
            return msgspec.structs.replace(part, weight=weight)
    kept = part.kept + _DAMPED * (part.length - took.length)
    if kept >= 0 or took.length <= 0:
        return msgspec.structs.replace(part, kept=max(0.0, kept))
    less = (part.length / took.length) ** _DAMPED
    return msgspec.structs.replace(part, kept=0.0, cpu=part.cpu * less, drag=part.drag * less)


def _by_drag(part: AttemptPart, took: Took) -> AttemptPart:
    aim = max(_LITTLE * took.waited, part.length - (took.length - took.waited))
    factor = min(1.3, max(0.7, (aim / took.waited) ** _DAMPED))
    return msgspec.structs.replace(
        part, drag=min(_MOST_DRAG, max(1 / _MOST_DRAG, part.drag * factor))
    )


def _with_disks(recorded: RecordedJobs, rate: float, room: float) -> RecordedJobs:
    return msgspec.structs.replace(recorded, cluster=recorded.cluster.with_disks(rate, room))


def _misfit(recorded: RecordedJobs) -> float:
    """Seconds by which parts are shorter or longer than recorded, and attempts wait longer or
    shorter for disks than their threads were blocked, before anything is fitted.
    """
    misfit = 0.0
    for one, of in zip(recorded.attempts, pinned(recorded), strict=True):
        parts = [pair for pair in zip(one.parts, of, strict=True) if not pair[0].gathers]
        misfit += sum(abs(part.length - took.length) for part, took in parts)
        if one.blocked is not None:
            misfit += abs(sum(part.kept + took.waited for part, took in parts) - one.blocked)
    return misfit
