"""A study from its plan to its outcome. What is recorded already is not recorded again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from iostrata.api import TracedRun, open_run
from iostrata.errors import UserError
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, list_runs
from iostrata_lab.studies.interface import Row, Study, StudyRun, Wanted
from iostrata_lab.studies.kept import keep
from iostrata_lab.workload.catalog import WORKLOADS
from iostrata_lab.workload.parameters import Value, values
from iostrata_lab.workload.runner import WorkloadOrder, WorkloadResult

# Runs a workload, recorded with every call in a run of that name.
RecordWorkload = Callable[[WorkloadOrder, str], WorkloadResult]
Say = Callable[[str], None]
NOTES = ".studies"  # of a store: what workloads said, a file for each run


@dataclass(frozen=True)
class StudyOrder:
    """What a user wants of a study. Runs of another `cluster` than the one named are not taken."""

    study: Study
    values: Mapping[str, Value]
    seed: int
    repeats: int
    cluster: str
    store: Path


@dataclass(frozen=True)
class Planned:
    """A run to come: the workload with all its values, and which repeat it is, from 1."""

    wanted: Wanted
    order: WorkloadOrder
    repeat: int
    name: str  # of the run, but for what is added where that cannot be used


def plan(request: StudyOrder) -> list[Planned]:
    """All runs in their order, each of them checked; raises UserError.

    Every other round goes backwards, so that what warms up favors neither end of the plan.
    """
    found = []
    for repeat in range(1, request.repeats + 1):
        runs = list(request.study.plan(request.values))
        for wanted in runs if repeat % 2 else reversed(runs):
            workload = WORKLOADS.named(wanted.workload)
            order = WorkloadOrder(workload, values(workload.parameters, wanted.given), request.seed)
            found.append(Planned(wanted, order, repeat, _name(order, repeat, request.cluster)))
    return found


def _name(order: WorkloadOrder, repeat: int, cluster: str) -> str:
    """The same for the same values: so it is found again, by other studies, too."""
    key = json.dumps([order.workload.name, dict(order.values), order.seed, cluster], sort_keys=True)
    return f"study-{order.workload.name}-{sha256(key.encode()).hexdigest()[:8]}-{repeat}"


def perform(request: StudyOrder, record: RecordWorkload, say: Say) -> list[StudyRun]:
    """Records what is not there yet and measures every run, in the order of the plan.

    Raises UserError where a run fails or has no events; those before it stay, and are taken the
    next time.
    """
    planned = plan(request)
    samples = []
    for number, one in enumerate(planned, 1):
        name, there = _usable(request.store, one.name)
        what = f"{number}/{len(planned)} {one.wanted.label}, repeat {one.repeat}"
        say(f"{what}: {'taken from' if there else 'recorded as'} {name}")
        if not there:
            said = record(one.order, name)
            _check(request.store, name)
            _note(request.store, name, said)
        samples.append(_sample(request, one, name))
    order = [wanted.label for wanted in request.study.plan(request.values)]
    return sorted(samples, key=lambda sample: (order.index(sample.label), sample.repeat))


def _check(store: Path, name: str) -> None:
    """A run of nothing would be a table of nothing; raises UserError, and it is not taken."""
    with open_run(_runs(store)[name]) as run:
        if not run.facts.events:
            raise UserError(f"{name} has {run.empty}")


def _sample(request: StudyOrder, one: Planned, name: str) -> StudyRun:
    said = json.loads(_noted(request.store, name).read_text())
    label, measure = one.wanted.label, request.study.measure
    return sample_of(request.store, name, label, one.repeat, said["result"], measure)


def sample_of(
    store: Path,
    name: str,
    label: str,
    repeat: int,
    result: Row,
    measure: Callable[[OpenedRun], Row] = lambda _: {},
) -> StudyRun:
    """A recorded run as one of a study."""
    facts = _runs(store)[name]
    with open_run(facts) as run:
        measured, traced = measure(run.opened), _traced(run)
    start = datetime.fromtimestamp(facts.start // 10**9, UTC).isoformat()
    seconds = round((facts.end - facts.start) / 1e9, 3)
    return StudyRun(label, repeat, name, start, seconds, result, measured, traced)


def _traced(run: TracedRun) -> Row:
    whole = run.summary
    return {
        "processes": whole.processes.total,
        "traced": whole.processes.traced,
        "dropped": whole.dropped,
        "collapsed": whole.collapsed,
        "lost": whole.lost,
        "missing": run.completeness[1:],
    }


def _usable(store: Path, name: str) -> tuple[str, bool]:
    """The first name of `name`, `name.2` … that is a whole run of ours, or free; whether it is
    a run.
    """
    runs = _runs(store)
    for tried in numbered(name):
        if tried in runs and runs[tried].state == "ok" and _noted(store, tried).is_file():
            return tried, True
        if not (store / tried).exists():
            return tried, False
    raise AssertionError("names do not end")


def numbered(name: str) -> Iterator[str]:
    """`name`, `name.2`, `name.3` …"""
    yield name
    number = 2
    while True:
        yield f"{name}.{number}"
        number += 1


def _runs(store: Path) -> dict[str, Run]:
    return {run.name: run for run in list_runs(store)}


def _noted(store: Path, name: str) -> Path:
    return store / NOTES / f"{name}.json"


def _note(store: Path, name: str, said: WorkloadResult) -> None:
    path = _noted(store, name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    keep(path, said)
