"""Studies of programs at the same time: what a paper measured, measured again as a mix."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from iostrata.errors import UserError
from iostrata_lab import clusters
from iostrata_lab.clusters.labs import list_labs
from iostrata_lab.mix.conclude import conclude
from iostrata_lab.mix.result import MixDocument
from iostrata_lab.mix.runner import MixOrder, Say, perform
from iostrata_lab.mix.trial import TrialOutcome
from iostrata_lab.recording import OrderedHadoop, bring_up_storage, lab_errors, take_down
from iostrata_lab.studies.interface import Described, Outcome, Row, StudyRun
from iostrata_lab.studies.runner import sample_of
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

# Of each lab of a study.
LAB_PARAMETERS = (
    Parameter("nodes", "servers of each file system, with a NodeManager each", 3, low=1, high=16),
    Parameter("disk", "bytes/s of the disk of each; 0: as fast as it is", 20_000_000, BYTES, low=0),
    Parameter("dirty", "bytes that wait in memory for that disk; 0: as the kernel has it", 32 << 20,
              BYTES, low=0),
)  # fmt: skip


@dataclass(frozen=True)
class StudyLab:
    """A file system on which a study runs, called `study-NAME` where it is a lab: `start` brings
    one up on nodes.
    """

    name: str
    start: Callable[..., clusters.Lab]
    hadoop: OrderedHadoop = field(default_factory=OrderedHadoop)

    @property
    def lab(self) -> str:
        return f"study-{self.name}"

    def held(self, locality: str) -> StudyLab:
        """The same with maps that are sent somewhere, another one: YARN waits for a place there."""
        hadoop = replace(self.hadoop, locality=locality)
        return replace(self, name=f"{self.name}-{locality}", hadoop=hadoop)


MOOSEFS = StudyLab("moosefs", partial(clusters.up_moosefs, copies=1))
CEPHFS = StudyLab("cephfs", partial(clusters.up_cephfs, copies=1, striping="large"))


@dataclass(frozen=True)
class MixPlan:
    """The programs of a study: commands by name, what is made before, and which run together."""

    commands: Mapping[str, str]
    setup: str
    together: Sequence[str]
    cost: bool = False  # each trial is also run untraced


@dataclass(frozen=True)
class MixStudy(Described):
    """What a paper measured of programs at the same time, measured again.

    `plan` is of the values of its parameters and a seed; it raises UserError for impossible ones.
    `conclude` is a function of the mix and these values alone.
    """

    labs: tuple[StudyLab, ...]
    plan: Callable[[Mapping[str, Value], int], MixPlan]
    conclude: Callable[[MixDocument, Mapping[str, Value]], Outcome]

    def order(self, values: Mapping[str, Value], repeats: int, seed: int, store: Path) -> MixOrder:
        """The mix that it is."""
        plan = self.plan(values, seed)
        return MixOrder(
            commands=list(plan.commands.values()),
            labs=[one.lab for one in self.labs],
            repeats=repeats,
            seed=seed,
            store=store,
            setup=plan.setup,
            together=plan.together,
            cost=plan.cost,
            name=f"{self.name}-{_key(values, seed)}",
        )


def _key(values: Mapping[str, Value], seed: int) -> str:
    """Trials on other disks, or of other sizes, are not taken for these."""
    return sha256(json.dumps([sorted(values.items()), seed]).encode()).hexdigest()[:8]


def perform_study(
    study: MixStudy, values: Mapping[str, Value], order: MixOrder, say: Say
) -> tuple[Outcome, list[StudyRun]]:
    """Starts the labs that are not there, and ends these; trials that ran are taken as they are."""
    if os.geteuid() != 0:
        raise UserError(f"{study.name} starts file systems, which only root can", "sudo iostrata …")
    with ExitStack() as stack:
        for lab in study.labs:
            stack.enter_context(_running(lab, values))
        outcomes = perform(order, say)
    found = conclude(order, outcomes)
    return study.conclude(found, values), _samples(order, outcomes)


@contextmanager
def _running(lab: StudyLab, values: Mapping[str, Value]) -> Iterator[None]:
    """One that runs already stays."""
    with lab_errors():
        running = {each.name for each in list_labs() if each.running}
    if lab.lab in running:
        yield
        return
    nodes = int(values["nodes"])
    brake = clusters.Brake(disk=int(values["disk"]), dirty=int(values["dirty"]))
    brakes = {f"node-{number}": brake for number in range(1, nodes + 1)}
    topology = clusters.Topology(nodes, brakes=brakes)
    bring_up_storage(lab.lab, partial(lab.start, topology=topology), True, lab.hadoop)
    try:
        yield
    finally:
        take_down(lab.lab)


def _samples(order: MixOrder, outcomes: Sequence[TrialOutcome]) -> list[StudyRun]:
    """Each trial that was recorded as a run of the study; times are s of first repetitions."""
    planned = {trial.key: trial for trial in order.trials}
    found = []
    for one in outcomes:
        if not one.run:
            continue
        trial = planned[one.key]
        times: Row = {name: round(runs[0].seconds, 3) for name, runs in one.sides.items()}
        label = f"{' and '.join(trial.programs)} on {trial.lab}"
        found.append(sample_of(order.store, one.run, label, trial.repeat, result=times))
    return sorted(found, key=lambda sample: (sample.label, sample.repeat))
