"""Tasks of a run: where and when each ran, its phases, and what each layer did for it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from iostrata.analyse.attempts import Attempt
from iostrata.analyse.overlap import Overlap
from iostrata.analyse.phases import Phase
from iostrata.analyse.totals import TaskTotal
from iostrata.show.report.model import Task, TaskLayer, TaskPhase

_Key = tuple[str, str]


def tasks(
    totals: Iterable[TaskTotal],
    attempts: Iterable[Attempt],
    phases: Iterable[Phase],
    overlaps: Iterable[Overlap],
) -> list[Task]:
    """One of each job and task, those that took longest first; `totals` as in `Summary.tasks`.

    A task's layers hold what DataNodes did for it, too. Times are those of its process.
    """
    layers: dict[_Key, list[TaskLayer]] = {}
    for row in totals:
        layer = msgspec.convert(row, TaskLayer, from_attributes=True)
        layers.setdefault(_key(row.job, row.task), []).append(layer)
    ran = {_key(attempt.job, attempt.task): attempt for attempt in attempts}
    done: dict[_Key, list[TaskPhase]] = {}
    for phase in phases:
        shown = TaskPhase(phase.phase, phase.start, phase.end, phase.time)
        done.setdefault(_key(phase.job, phase.task), []).append(shown)
    in_io = {_key(overlap.job, overlap.task): overlap.in_io for overlap in overlaps}
    found = [
        _task(key, layers.get(key, []), ran.get(key), done.get(key, []), in_io.get(key))
        for key in dict.fromkeys((*layers, *ran))
    ]
    return sorted(found, key=lambda task: (-task.time, task.start or 0, task.job, task.task))


def _key(job: str | None, task: str | None) -> _Key:
    return job or "", task or ""


def _task(
    key: _Key,
    layers: list[TaskLayer],
    ran: Attempt | None,
    phases: list[TaskPhase],
    in_io: int | None,
) -> Task:
    names = ("role", "host", "start", "end", "exit")
    known = {name: getattr(ran, name, None) for name in names}
    job, task = key
    time = sum(layer.time for layer in layers)
    return Task(
        job=job, task=task, time=time, phases=phases, layers=layers, in_io=in_io or None, **known
    )
