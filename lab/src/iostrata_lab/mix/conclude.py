"""From trials and their recorded runs to what a mix comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.parts import SHARED, PartOperation, part_operations
from iostrata.analyse.placement import MapPlaces, map_places
from iostrata.analyse.processes import Process, processes
from iostrata.analyse.totals import CategoryTotal, OperationTotal, by_category, by_operation
from iostrata.api import open_run
from iostrata.store.runs import list_runs
from iostrata_lab.mix import collide
from iostrata_lab.mix.counters import BUSIEST
from iostrata_lab.mix.figures import in_turn, of_pairs, overlap, ratio
from iostrata_lab.mix.result import (
    GrownOperation,
    MixDocument,
    MixedProgram,
    MixOnLab,
    TracingCost,
)
from iostrata_lab.mix.runner import MixOrder
from iostrata_lab.mix.trial import TrialOutcome

TEMPORARY = ("spill", "shuffle")  # categories of local files that tasks have for themselves


@dataclass(frozen=True)
class _Traced:
    """What the recorded run of a trial says, by part."""

    times: dict[str, collide.Times]
    places: dict[str, list[MapPlaces]]
    incomplete: list[str]
    size: float  # bytes a call
    temporary: int  # bytes of local files of tasks


class _Trials:
    """Outcomes of a lab by repeat and programs, and their runs."""

    def __init__(self, order: MixOrder, lab: str, outcomes: Sequence[TrialOutcome]) -> None:
        known = {one.key: one for one in outcomes}
        self.repeats = range(1, order.repeats + 1)
        planned = [one for one in order.trials if one.lab == lab]
        self._found, self._bare = (
            {(one.repeat, one.programs): known[one.key] for one in planned if one.bare is bare}
            for bare in (False, True)
        )
        self._runs = {run.name: run for run in list_runs(order.store)}
        self._traced = {key: self._read(one) for key, one in self._found.items() if one.run}

    def of(self, programs: str) -> list[TrialOutcome]:
        """Of programs, in the order of the repeats."""
        return [self._found[repeat, programs] for repeat in self.repeats]

    def bare(self, programs: str) -> list[TrialOutcome]:
        """Likewise those that are not recorded."""
        return [self._bare[repeat, programs] for repeat in self.repeats]

    def traced(self, programs: str) -> list[_Traced]:
        """Likewise what runs say; none where they were not recorded."""
        found = [self._traced.get((repeat, programs)) for repeat in self.repeats]
        return [one for one in found if one is not None]

    def incomplete(self) -> list[str]:
        return [line for one in self._traced.values() for line in one.incomplete]

    def _read(self, outcome: TrialOutcome) -> _Traced:
        with open_run(self._runs[outcome.run]) as run:
            engine = DuckDb(run.opened)
            rows = engine.records(part_operations, PartOperation)
            places = map_places(engine, run.opened.run.cluster.configuration)
            known = engine.records(processes, Process) if places else []
            lines = [f"{outcome.run}: {line}" for line in run.completeness[1:]]
            calls = sum(row.calls for row in engine.records(by_operation, OperationTotal))
            temporary = sum(
                row.bytes_read + row.bytes_written
                for row in engine.records(by_category, CategoryTotal)
                if row.layer == "java" and row.category in TEMPORARY
            )
        by_part: dict[str, list[MapPlaces]] = {}
        part_of = {one.job: one.part for one in known if one.job and one.part}
        for place in places:
            by_part.setdefault(part_of.get(place.job or "") or SHARED, []).append(place)
        size = self._runs[outcome.run].bytes / max(calls, 1)
        return _Traced(collide.times(rows), by_part, lines, size, temporary)


def conclude(order: MixOrder, outcomes: Sequence[TrialOutcome]) -> MixDocument:
    """All figures of a mix, of trials that have all ended."""
    of_labs = {lab: _Trials(order, lab, outcomes) for lab in order.labs or [""]}
    return MixDocument(
        name=order.called,
        commands=dict(order.programs.commands),
        setup=order.setup,
        prepare=order.prepare,
        repeats=order.repeats,
        trials=len(order.trials),
        seed=order.seed,
        recorded=order.recorded,
        budget=order.budget if order.recorded else "",
        dropped=all(one.dropped for one in outcomes),
        labs=[
            _on_lab(order, lab, names, trials)
            for lab, trials in of_labs.items()
            for names in order.combinations
        ],
        incomplete=[line for trials in of_labs.values() for line in trials.incomplete()],
        costs=[
            _cost(lab, name, names, trials)
            for lab, trials in of_labs.items()
            for names in order.kinds
            for name in names
            if order.cost
        ],
    )


def _on_lab(order: MixOrder, lab: str, names: str, trials: _Trials) -> MixOnLab:
    together = trials.of(names)
    resources = collide.shared(
        {name: [one.uses for one in trials.of(name)] for name in names},
        [one.uses for one in together],
    )
    operations = _operations(names, trials)
    return MixOnLab(
        lab=lab,
        together=names,
        programs=[_program(order, name, names, trials) for name in names],
        in_turn=of_pairs([(_in_turn(names, trials, at), 1.0) for at in range(order.repeats)]),
        resources=resources,
        collision=collide.collision(resources),
        operations=operations,
        layers=collide.layers(operations),
        series=together[-1].series,
        runs=[one.run for one in together if one.run],
    )


def _through_network(one: TrialOutcome) -> int:
    rates = (use.rate for use in one.uses if use.kind == "server network" and use.name != BUSIEST)
    return round(sum(rates) * one.seconds)


def _cost(lab: str, name: str, names: str, trials: _Trials) -> TracingCost:
    bare, recorded = trials.bare(names), trials.of(names)
    times = [[one.sides[name][0].seconds for one in side] for side in (bare, recorded)]
    cpus = [[one.cpu for one in side if names == name] for side in (bare, recorded)]
    return TracingCost(
        lab=lab,
        together=names,
        program=name,
        bare=[round(one, 3) for one in times[0]],
        recorded=[round(one, 3) for one in times[1]],
        time=ratio(times[1], times[0]),
        cpu_bare=[round(one, 2) for one in cpus[0]],
        cpu_recorded=[round(one, 2) for one in cpus[1]],
        cpu=ratio(cpus[1], cpus[0]) if all(map(all, cpus)) and cpus[0] else None,
        bytes_per_call=round(fmean(one.size for one in trials.traced(names)), 2),
    )


def _in_turn(names: str, trials: _Trials, repeat: int) -> float:
    """Of a repeat, by first repetitions."""
    both = trials.of(names)[repeat].sides
    firsts = {name: trials.of(name)[repeat].sides[name][0].seconds for name in names}
    return in_turn((firsts[name], both[name][0].seconds) for name in names)


def _program(order: MixOrder, name: str, names: str, trials: _Trials) -> MixedProgram:
    together = trials.of(names)
    alone = [one.sides[name][0].seconds for one in trials.of(name)]
    with_others = [one.sides[name][0].seconds for one in together]
    again = [each.seconds for one in together for each in one.sides[name][1:]]
    return MixedProgram(
        name=name,
        command=order.programs.commands[name],
        alone=[round(one, 3) for one in alone],
        together=[round(one, 3) for one in with_others],
        slowdown=ratio(with_others, alone),
        overlap=round(min(overlap(name, one.sides) for one in together), 4),
        repetitions=[len(one.sides[name]) for one in together],
        again=round(fmean(again), 3) if again else None,
        data_local_alone=_local(trials.traced(name), name),
        data_local_together=_local(trials.traced(names), name),
        network_alone=[_through_network(one) for one in trials.of(name)],
        temporary_alone=[one.temporary for one in trials.traced(name)],
    )


def _local(traced: Sequence[_Traced], name: str) -> float | None:
    places = [place for one in traced for place in one.places.get(name, [])]
    maps = sum(one.data_local + one.rack_local + one.remote for one in places)
    return round(sum(one.data_local for one in places) / maps, 4) if maps else None


def _operations(names: str, trials: _Trials) -> list[GrownOperation]:
    together = trials.traced(names)
    if not together:
        return []
    found: list[GrownOperation] = []
    for name in names:
        alone = [one.times.get(name, {}) for one in trials.traced(name)]
        found += collide.grown(name, alone, [one.times.get(name, {}) for one in together])
    of_servers = [one.times.get(SHARED, {}) for one in together]
    alone = [one.times.get(SHARED, {}) for name in names for one in trials.traced(name)]
    as_alone = [collide.as_alone(alone, one) for one in of_servers]
    return found + collide.grown(SHARED, as_alone, of_servers)
