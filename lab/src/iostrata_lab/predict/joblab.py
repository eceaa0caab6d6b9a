"""Runs the jobs of a study on clusters of several sizes (S5, Fig. 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from iostrata.api import open_run
from iostrata.cli.recording import request_for
from iostrata.cli.recordline import RecordOptions
from iostrata.replay import hardware
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.whatif import WhatIf, what_if
from iostrata.text import plural
from iostrata_lab import clusters
from iostrata_lab.predict.jobs import PredictedJob, node_counts
from iostrata_lab.predict.order import PredictOrder, record_whole
from iostrata_lab.predict.result import KeptResult, MeasuredJob, PredictedJobCase
from iostrata_lab.recording import bring_up, cluster_of, take_down
from iostrata_lab.studies.runner import Say

_DIRTY = 16 << 20
_NO_SPECULATION = {f"mapreduce.{task}.speculative": "false" for task in ("map", "reduce")}


def perform_jobs(order: PredictOrder, kept: KeptResult, say: Say) -> None:
    """Records, predicts and then measures what is not there yet."""
    for nodes in node_counts(order.values):
        wanted = _wanted(order, kept, nodes)
        if kept.result.jobs and not wanted:
            continue
        with _running(nodes, order) as lab:
            for job in order.study.jobs:
                lab.make(job)
                lab.run(job, _disks(order)[0])  # what is loaded for the first time
            if not kept.result.jobs:
                _predict(order, kept, lab, say)
            for job, disk, repeat in wanted:
                took = lab.took(lab.run(job, disk))
                where = f"{job.name}, {plural(nodes, 'node')}, {disk / 1e6:g} MB/s"
                say(f"{where}, repeat {repeat}: {took:.1f} s")
                kept.result.job_times.append(MeasuredJob(job.name, nodes, disk, repeat, took))
                kept.keep()


def _wanted(
    order: PredictOrder, kept: KeptResult, nodes: int
) -> list[tuple[PredictedJob, int, int]]:
    """What is to be measured: jobs, on disks, with the repeat."""
    named = {job.name: job for job in order.study.jobs}
    measured = [one for one in kept.result.job_times if one.nodes == nodes]
    known = {((one.job, one.disk), one.repeat) for one in measured}
    cases = [(name, disk) for name in named for disk in _disks(order)]
    found = order.rounds(str(nodes), cases, known)
    return [(named[name], disk, repeat) for (name, disk), repeat in found]


def _disks(order: PredictOrder) -> list[int]:
    slow = int(order.values["spindle"])
    return [slow, 2 * slow]


def _predict(order: PredictOrder, kept: KeptResult, lab: _JobLab, say: Say) -> None:
    """All of it before any job is measured."""
    sizes, disks = node_counts(order.values), _disks(order)
    for job in order.study.jobs:
        run = lab.run(job, disks[0])
        say(f"{job.name}: recorded as {run}")
        for nodes in sizes:
            for disk in disks:
                more = nodes if nodes != sizes[0] else 0
                said = _asked(order, run, more, disk / disks[0])
                times = (said.predicted, said.low, said.high)
                kept.result.jobs.append(PredictedJobCase(job.name, nodes, disk, run, *times))
    kept.keep()


def _asked(order: PredictOrder, run: str, nodes: int, of_disks: float) -> WhatIf:
    """With so many nodes, 0 for as many, and disks so many times as fast. Where nobody waited for
    disks, what-if knows nothing of them: they are taken to be no limit on the other cluster either.
    """
    with open_run(run, order.store) as traced:
        changes = [hardware.nodes(nodes)] if nodes else []
        if of_disks != 1 and recorded_jobs(traced.opened).cluster.disks:
            changes.append(hardware.faster_disks(f"{of_disks:g}x"))
        return what_if(traced.opened, changes)


class _JobLab:
    """A cluster that is up, traced."""

    def __init__(self, lab: clusters.HadoopLab, order: PredictOrder) -> None:
        self._lab, self._order = lab, order
        self._client = cluster_of(lab.name)

    def make(self, job: PredictedJob) -> None:
        """Its input."""
        size, maps = (int(self._order.values[name]) for name in ("input", "maps"))
        words = (
            "randomtextwriter",
            f"-Dmapreduce.randomtextwriter.totalbytes={size}",
            f"-Dmapreduce.randomtextwriter.bytespermap={-(-size // maps)}",
        )
        self._client.hadoop("jar", str(self._lab.examples_jar), *words, *job.make, job.input)

    def run(self, job: PredictedJob, disk: int) -> str:
        """The name of a recorded run, with no byte of its input in memory."""
        for node in self._lab.nodes():
            self._lab.brake(node.name, lambda brake: replace(brake, disk=disk))
        command = ["hadoop", "jar", str(self._lab.examples_jar), *job.run, job.input, "/out"]
        options = RecordOptions(
            command, lab=self._lab.name, store=self._order.store, tag=["study=predict"]
        )
        # the collector of a lab has a store of its own, with runs of other times
        stamp = time.strftime("%m%d%H%M%S", time.gmtime())
        name = f"study-{self._order.called}-{job.name}-{len(self._lab.nodes())}-{stamp}"
        record_whole(replace(request_for(options), run=name, title=job.name))
        self._client.remove("/out")
        return name

    def took(self, run: str) -> float:
        """Seconds of a run."""
        with open_run(run, self._order.store) as traced:
            return (traced.facts.end - traced.facts.start) / 1e9


@contextmanager
def _running(nodes: int, order: PredictOrder) -> Iterator[_JobLab]:
    name = f"study-predict-{nodes}-nodes"
    brake = clusters.Brake(disk=int(order.values["spindle"]), dirty=_DIRTY)
    brakes = {f"node-{number}": brake for number in range(1, nodes + 1)}
    topology = clusters.Topology(nodes, brakes=brakes)
    lab = bring_up(name, nodes, agent=True, properties=_NO_SPECULATION, topology=topology)
    try:
        yield _JobLab(lab, order)
    finally:
        take_down(name)
