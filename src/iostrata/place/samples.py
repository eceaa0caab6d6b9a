"""What a recorded job did with space and time: what a verdict on such jobs is made of (S3.2)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePath

from iostrata.analyse.attempts import Attempt, attempts
from iostrata.analyse.demands import TaskThread, task_threads
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.lifetimes import Stored, levels, levels_at
from iostrata.analyse.processes import Process, processes
from iostrata.analyse.space import stored_files
from iostrata.records import Bytes, EpochNs, Record, Share
from iostrata.schema.roles import SERVERS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run

PLACES = 24  # of a curve
_PROGRAMS = (".jar", ".py", ".sh", ".R", ".pl")


class JobSample(Record, frozen=True):
    """A job of a run, or a run without jobs: bytes that its files used, one copy of those in HDFS.

    `most` is the most at a time, `left` what was there when the run had ended, `curve` how many
    there were at PLACES times from the begin of the run to its end. `computed`: of the time of its
    tasks, or programs, what they ran or waited for a CPU; null where that is not known.
    """

    pattern: str
    run: str
    job: str | None
    start: EpochNs
    most: Bytes
    left: Bytes
    curve: list[Bytes]
    computed: Share | None

    @property
    def kept(self) -> Share:
        """Of the most at a time, what was left."""
        return self.left / self.most if self.most else 0.0


def pattern_of(run: Run, by: re.Pattern[str] | None = None) -> str:
    """What runs of the same kind share: the part of the label that `by` finds (its first group, if
    it has one), '' where it finds none; else the words that are no option, number or path, but of
    a program (`job.py`).
    """
    if by is not None:
        found = by.search(run.label)
        return (found[1] if by.groups else found[0]) or "" if found else ""
    first, *rest = shlex.split(run.label) if run.command and not run.title else run.label.split()
    return " ".join(filter(None, [PurePath(first).name, *map(_name, rest)]))


def _name(word: str) -> str:
    """'' of a path, an option or a number; of programs the last part of their path."""
    if re.search(r"=|^-|^\d", word):
        return ""
    if word.endswith(_PROGRAMS):
        return PurePath(word).name
    return "" if "/" in word else word


def job_samples(opened: OpenedRun, by: re.Pattern[str] | None = None) -> list[JobSample]:
    """Of each job that stored anything; of all programs together where the run has no job.

    Of several jobs, the number of each in its run is a part of the pattern.
    """
    run, engine = opened.run, DuckDb(opened)
    pattern = pattern_of(run, by)
    if not pattern:
        return []
    files = stored_files(engine)
    computed = _computed(opened)
    jobs = sorted(job for job, _ in files if job is not None)
    if not jobs:
        every = [file for some in files.values() for file in some]
        return [_sample(pattern, run, None, every, computed.get(None))] if every else []
    return [
        _sample(
            f"{pattern} #{number}" if len(jobs) > 1 else pattern,
            run,
            job,
            files[job, None],
            computed.get(job),
        )
        for number, job in enumerate(jobs, 1)
    ]


def _sample(
    pattern: str, run: Run, job: str | None, files: Sequence[Stored], computed: Share | None
) -> JobSample:
    steps = levels(files)
    end = max(run.end, steps[-1].at)
    times = [run.start + (end - run.start) * place // (PLACES - 1) for place in range(PLACES)]
    curve = [one.temporary + one.permanent for one in levels_at(steps, times)]
    used = [step.temporary + step.permanent for step in steps]
    return JobSample(pattern, run.name, job, run.start, max(used), used[-1], curve, computed)


def _computed(opened: OpenedRun) -> dict[str | None, Share]:
    """By job; by None what programs of no job did."""
    engine = DuckDb(opened)
    worked = {one.task: one.worked for one in engine.records(task_threads, TaskThread)}
    times: dict[str | None, list[tuple[int, int]]] = {}
    for one in engine.records(attempts, Attempt):
        computed = worked.get(one.task)
        if one.dur and computed is not None:
            times.setdefault(one.job, []).append((min(computed, one.dur), one.dur))
    for each in engine.records(processes, Process):
        of_nobody = each.traced and not each.job and each.role not in SERVERS
        if of_nobody and each.start and each.end and each.cpu is not None:
            lived = max(1, each.end - each.start)
            busy = min(lived, each.cpu + (each.queued or 0))
            times.setdefault(None, []).append((busy, lived))
    return {
        job: sum(busy for busy, _ in some) / sum(lived for _, lived in some)
        for job, some in times.items()
    }
