"""From trials and their recorded runs to what a mix comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.parts import SHARED, PartOperation, part_operations
from iostrata.analyse.placement import MapPlaces, map_places
from iostrata.analyse.processes import Process, processes
from iostrata.api import open_run
from iostrata.store.runs import list_runs
from iostrata_lab.mix import collide
from iostrata_lab.mix.figures import of_pairs, overlap, ratio
from iostrata_lab.mix.result import (
    GrownOperation,
    MixDocument,
    MixedProgram,
    MixOnLab,
)
from iostrata_lab.mix.runner import MixOrder
from iostrata_lab.mix.schedule import Trial
from iostrata_lab.mix.trial import TrialOutcome


@dataclass(frozen=True)
class _Traced:
    """What the recorded run of a trial says, by part."""

    times: dict[str, collide.Times]
    places: dict[str, list[MapPlaces]]
    incomplete: list[str]


class _Trials:
    """Outcomes of a lab by repeat and programs, and their runs."""

    def __init__(self, order: MixOrder, lab: str, outcomes: Sequence[TrialOutcome]) -> None:
        known = {one.key: one for one in outcomes}
        self.names = "".join(order.programs.commands)
        self.repeats = range(1, order.repeats + 1)
        self._found = {
            (repeat, programs): known[Trial(repeat, programs, lab).key]
            for repeat in self.repeats
            for programs in (*self.names, self.names)
        }
        self._runs = {run.name: run for run in list_runs(order.store)}
        self._traced = {key: self._read(one) for key, one in self._found.items() if one.run}

    def of(self, programs: str) -> list[TrialOutcome]:
        """Of programs, in the order of the repeats."""
        return [self._found[repeat, programs] for repeat in self.repeats]

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
        by_part: dict[str, list[MapPlaces]] = {}
        part_of = {one.job: one.part for one in known if one.job and one.part}
        for place in places:
            by_part.setdefault(part_of.get(place.job or "") or SHARED, []).append(place)
        return _Traced(collide.times(rows), by_part, lines)


def conclude(order: MixOrder, outcomes: Sequence[TrialOutcome]) -> MixDocument:
    """All figures of a mix, of trials that have all ended."""
    of_labs = {lab: _Trials(order, lab, outcomes) for lab in order.labs or [""]}
    return MixDocument(
        name=order.called,
        commands=dict(order.programs.commands),
        setup=order.setup,
        prepare=order.prepare,
        repeats=order.repeats,
        seed=order.seed,
        recorded=order.recorded,
        budget=order.budget if order.recorded else "",
        dropped=all(one.dropped for one in outcomes),
        labs=[_on_lab(order, lab, trials) for lab, trials in of_labs.items()],
        incomplete=[line for trials in of_labs.values() for line in trials.incomplete()],
    )


def _on_lab(order: MixOrder, lab: str, trials: _Trials) -> MixOnLab:
    together = trials.of(trials.names)
    resources = collide.shared(
        {name: [one.uses for one in trials.of(name)] for name in trials.names},
        [one.uses for one in together],
    )
    operations = _operations(trials)
    return MixOnLab(
        lab=lab,
        programs=[_program(order, name, trials) for name in trials.names],
        in_turn=of_pairs([_in_turn(trials, at) for at in range(order.repeats)]),
        resources=resources,
        collision=collide.collision(resources),
        operations=operations,
        layers=collide.layers(operations),
        series=together[-1].series,
        runs=[one.run for one in together if one.run],
    )


def _in_turn(trials: _Trials, repeat: int) -> tuple[float, float]:
    """s until all programs had ended once in a repeat (from 0): together, one after the other."""
    together = trials.of(trials.names)[repeat]
    alone = [trials.of(name)[repeat].sides[name][0].seconds for name in trials.names]
    return max(one[0].end for one in together.sides.values()), sum(alone)


def _program(order: MixOrder, name: str, trials: _Trials) -> MixedProgram:
    together = trials.of(trials.names)
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
        data_local_together=_local(trials.traced(trials.names), name),
    )


def _local(traced: Sequence[_Traced], name: str) -> float | None:
    places = [place for one in traced for place in one.places.get(name, [])]
    maps = sum(one.data_local + one.rack_local + one.remote for one in places)
    return round(sum(one.data_local for one in places) / maps, 4) if maps else None


def _operations(trials: _Trials) -> list[GrownOperation]:
    together = trials.traced(trials.names)
    if not together:
        return []
    found: list[GrownOperation] = []
    for name in trials.names:
        alone = [one.times.get(name, {}) for one in trials.traced(name)]
        found += collide.grown(name, alone, [one.times.get(name, {}) for one in together])
    of_servers = [one.times.get(SHARED, {}) for one in together]
    alone = [one.times.get(SHARED, {}) for name in trials.names for one in trials.traced(name)]
    as_alone = [collide.as_alone(alone, one) for one in of_servers]
    return found + collide.grown(SHARED, as_alone, of_servers)
