"""A mix from its check to its last trial. What ran already does not run again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import msgspec

from iostrata.cli.recording import request_for
from iostrata.cli.recordline import RecordOptions
from iostrata.errors import UserError
from iostrata.record.collector import run_key
from iostrata.record.command import Signals
from iostrata.record.session import Recorded, RecordRequest, record
from iostrata_lab.clusters.cgroups import controllers
from iostrata_lab.clusters.hadoop.lab import HadoopLab
from iostrata_lab.clusters.lab import Lab
from iostrata_lab.mix.counters import MachineCpu, resources
from iostrata_lab.mix.schedule import NAMES, Trial, trials
from iostrata_lab.mix.trial import (
    Folders,
    MixPrograms,
    RunningTrial,
    TrialOutcome,
    drop_caches,
    shell,
)
from iostrata_lab.recording import recorded_lab
from iostrata_lab.studies.kept import keep, locked, read_kept
from iostrata_lab.studies.runner import numbered
from iostrata_lab.workload.cluster import ClusterClient

KEPT = ".mixes"  # of a store: outcomes of trials, a folder for each mix
Say = Callable[[str], None]


@dataclass(frozen=True)
class MixOrder:
    """What a user wants: commands of a shell, on labs, '' for this machine."""

    commands: Sequence[str]
    labs: Sequence[str]
    repeats: int
    seed: int
    store: Path
    setup: str = ""  # command before the first trial on a lab, '' for none
    prepare: str = ""  # likewise before each trial
    recorded: bool = True
    budget: str = "1%"
    name: str = ""
    together: Sequence[str] = ()  # combinations as `AB`; none: all of them
    cost: bool = False  # each trial is also run untraced

    @property
    def combinations(self) -> Sequence[str]:
        """Programs that run at the same time, by name."""
        return self.together or [NAMES[: len(self.commands)]]

    @property
    def kinds(self) -> Sequence[str]:
        """What a trial may be of: each program alone, and each combination."""
        return (*sorted(set("".join(self.combinations))), *self.combinations)

    @property
    def programs(self) -> MixPrograms:
        return MixPrograms(dict(zip(NAMES, self.commands, strict=False)), self.prepare)

    @property
    def trials(self) -> list[Trial]:
        return trials(self.repeats, self.labs, self.kinds, self.seed, self.cost)

    @property
    def called(self) -> str:
        """The same for the same programs on the same labs: so what ran already is found again."""
        what = [*self.commands, self.setup, self.prepare, *self.labs, self.seed, self.recorded]
        key = json.dumps([*what, self.budget, str(Path.cwd()) if not self.labs else ""])
        return self.name or sha256(key.encode()).hexdigest()[:8]


def check(order: MixOrder) -> None:
    """Raises UserError for what cannot work, before anything starts."""
    if not 2 <= len(order.commands) <= len(NAMES):
        raise UserError(
            f"{len(order.commands)} programs are no mix: it takes 2 to {len(NAMES)}",
            "quote each command: iostrata mix 'dd …' 'fio …'",
        )
    for command in order.commands:
        if not command.strip():
            raise UserError("a command is empty", "name a program")
    known = NAMES[: len(order.commands)]
    for programs in order.together:
        if len(programs) < 2 or "".join(sorted(set(programs) & set(known))) != programs:
            raise UserError(
                f"{programs!r} is no combination of programs",
                f"two or more of {', '.join(known)} in this order, as {known[:2]}",
            )
    if order.cost and not order.recorded:
        raise UserError("--cost compares with trials that are recorded", "leave --untraced out")
    if len(set(order.labs)) < len(order.labs):
        raise UserError("a lab is named twice", "name each once")
    for lab in order.labs:
        if not recorded_lab(lab).lab.running:
            raise UserError(f"lab {lab} does not run", "start it: iostrata lab up")


class Kept:
    """Outcomes of the trials of a mix that ran, in the store."""

    def __init__(self, store: Path, name: str) -> None:
        self.folder = store / KEPT / name
        self._file = self.folder / "trials.json"
        self.outcomes: dict[str, TrialOutcome] = {}

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Reads what is there, and keeps others out; raises UserError where that cannot be."""
        with locked(self.folder, "this mix", "wait for it, or give this one a --name"):
            found = read_kept(self._file, list[TrialOutcome], [])
            self.outcomes = {one.key: one for one in found}
            yield

    def add(self, outcome: TrialOutcome) -> None:
        """Keeps it at once."""
        self.outcomes[outcome.key] = outcome
        keep(self._file, list(self.outcomes.values()))


@dataclass
class _OnLab:
    """A lab on which trials run: its folders are made with the first of them."""

    name: str
    order: MixOrder
    logs: Path
    lab: Lab | None = None
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    is_set_up: bool = False

    def __post_init__(self) -> None:
        if self.name:
            known = recorded_lab(self.name)
            self.lab, self.environment = known.lab, known.environment()

    @property
    def folders(self) -> Folders:
        return Folders.on(self.environment, f"iostrata-mix-{self.order.called}")

    def set_up(self) -> None:
        """Makes the folder that its trials share; what an earlier mix left there goes."""
        if self.is_set_up:
            return
        self.clear()
        files = self.folders.files
        try:
            files.mkdir()  # a link that somebody has put there is not followed
        except OSError as error:
            raise UserError(f"{files}: {error.strerror}", "remove it, or go elsewhere") from error
        self.is_set_up = True
        (files / "shared").mkdir()
        if self.order.setup:
            (self.logs / f"{self.name or 'here'}-setup.log").unlink(missing_ok=True)
            self.shell(self.order.setup, "setup")

    def shell(self, command: str, what: str) -> None:
        environment = {**self.environment, **self.folders.shared()}
        shell(command, environment, self.logs / f"{self.name or 'here'}-{what}.log", f"--{what}")

    def clear(self, below: str = "") -> None:
        """Removes its folders, or those whose names begin with `below`."""
        folders = self.folders
        for path in folders.files.glob(f"{below}*") if below else [folders.files]:
            shutil.rmtree(path, ignore_errors=True)
        if isinstance(self.lab, HadoopLab) and self.lab.has_hdfs:
            where = f"{folders.path}/{below}*" if below else folders.path
            ClusterClient(self.environment).remove(where)


def perform(order: MixOrder, say: Say) -> list[TrialOutcome]:
    """Runs what did not run yet, and returns the outcomes in the order of the trials.

    Raises UserError where a program fails, KeyboardInterrupt after a signal; trials that ended
    before stay, and are taken the next time.
    """
    check(order)
    kept = Kept(order.store, order.called)
    with kept.opened():
        return _performed(order, kept, say)


def _performed(order: MixOrder, kept: Kept, say: Say) -> list[TrialOutcome]:
    places = {name: _OnLab(name, order, kept.folder) for name in order.labs or [""]}
    planned = order.trials
    try:
        for number, trial in enumerate(planned, 1):
            what = f"{number}/{len(planned)} {trial.said}"
            known = kept.outcomes.get(trial.key)
            if known is None or (known.run and not (order.store / known.run).exists()):
                known = _tried(places[trial.lab], trial)
                kept.add(known)
                say(f"{what}: {known.seconds:.1f} s")
            else:
                say(f"{what}: {known.seconds:.1f} s, taken from before")
    finally:
        for place in places.values():
            if place.is_set_up:
                place.clear()
    return [kept.outcomes[trial.key] for trial in planned]


def _tried(place: _OnLab, trial: Trial) -> TrialOutcome:
    place.set_up()
    order = place.order
    if order.prepare:
        place.shell(order.prepare, "prepare")
    used = resources(place.lab, list(controllers().values()) if place.lab else ())
    running = RunningTrial(trial, order.programs, place.folders, place.logs, used)
    for name in trial.programs:
        running.log(name).unlink(missing_ok=True)
    dropped, cpu = drop_caches(), MachineCpu()
    before = cpu.seconds()
    try:
        is_recorded = order.recorded and not trial.bare
        outcome = _recorded(running, order) if is_recorded else _plain(running, place)
    finally:
        place.clear(f"{trial.key}-")
    running.check(outcome)
    took = round(cpu.seconds() - before, 2)
    return msgspec.structs.replace(outcome, dropped=dropped, cpu=took)


def _plain(running: RunningTrial, place: _OnLab) -> TrialOutcome:
    with Signals() as signals:
        outcome = running.run(place.environment, lambda: not signals.received)
    if signals.received:
        raise KeyboardInterrupt
    return outcome


def _recorded(running: RunningTrial, order: MixOrder) -> TrialOutcome:
    trial, kept = running.trial, list[TrialOutcome]()
    commands = [order.programs.commands[name] for name in trial.programs]
    options = RecordOptions(
        ["iostrata", "mix", *commands],
        lab=trial.lab or None,
        store=order.store,
        tag=[f"mix={order.called}", f"trial={trial.key}"],
        native=True,
        budget=order.budget,
        private=not trial.lab,
    )
    asked = request_for(options)
    request = replace(
        asked,
        run=free_name(asked, f"mix-{order.called}-{trial.key}"),
        title=" | ".join(f"{name}: {order.programs.commands[name]}" for name in trial.programs),
        act=lambda _collector, environment, signals, tick: running.act(
            environment, signals, kept, tick
        ),
    )
    recorded: Recorded = record(request, None)
    if recorded.state == "interrupted":
        raise KeyboardInterrupt
    if not kept or not recorded.published:
        raise UserError(f"run {recorded.run} is not whole: {recorded.message}", exit_code=1)
    return msgspec.structs.replace(kept[0], run=recorded.run)


def free_name(asked: RecordRequest, name: str) -> str:
    """A name that no run has, in the store of the collector either: one that failed keeps its own,
    and so does one that is no longer in ours.
    """

    def is_free(tried: str) -> bool:
        known = [asked.store / tried]
        if asked.collector:
            known.append(asked.collector.store / run_key(asked.collector, tried))
        return not any(map(os.path.lexists, known))

    return next(filter(is_free, numbered(name)))


def forget(order: MixOrder) -> None:
    """Removes what is kept of a mix; its runs stay."""
    shutil.rmtree(order.store / KEPT / order.called, ignore_errors=True)
