"""A workload from its check to its last byte: nothing half-done stays on the cluster."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from iostrata.errors import UserError
from iostrata.progress import Progress
from iostrata.records import Record, builtins
from iostrata.text import size
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import Value

CHECK, CLEAN = "check", "clean"
# HDFS wants some space beside the data: blocks being written are counted whole.
ROOM = 1.1


@dataclass(frozen=True)
class WorkloadOrder:
    """A workload to run. `folder` is in HDFS and must not be there yet; '' takes a new one."""

    workload: Workload
    values: Mapping[str, Value]
    seed: int = 1
    folder: str = ""
    keep: bool = False
    name: str = field(default_factory=lambda: uuid4().hex[:8])

    @property
    def title(self) -> str:
        """`terasort rows=1000000 maps=2`: what says how large it is, and what is not as usual."""
        values = [(one, self.values[one.name]) for one in self.workload.parameters]
        return " ".join(
            [self.workload.name, *(one.said(value) for one, value in values if one.tells(value))]
        )

    @property
    def tag(self) -> str:
        """Of all its jobs: by this they are found and ended when it is interrupted."""
        return f"iostrata-{self.name}"

    @property
    def place(self) -> str:
        return self.folder or f"/tmp/iostrata-{self.workload.name}-{self.name}"


class WorkloadResult(Record, frozen=True):
    """What became of a workload, as JSON has it: times in s; `result` is as the workload says."""

    workload: str
    values: dict[str, Value]
    seed: int
    folder: str | None
    prepare_s: float
    run_s: float
    result: dict[str, Any]
    run: str | None = None


@dataclass(frozen=True)
class Done:
    """What became of it; times in s."""

    order: WorkloadOrder
    result: Result
    prepared: float
    ran: float

    def answer(self, run: str | None = None) -> WorkloadResult:
        """With the name of the run that was recorded of it."""
        return WorkloadResult(
            workload=self.order.workload.name,
            values=dict(self.order.values),
            seed=self.order.seed,
            folder=self.order.place if self.order.keep else None,
            prepare_s=round(self.prepared, 3),
            run_s=round(self.ran, 3),
            result=builtins(dict(self.result)),
            run=run,
        )


Inner = Callable[[Context], Result]


def steps(workload: Workload) -> tuple[str, ...]:
    """What `perform` says to its step."""
    return (CHECK, *workload.steps, CLEAN)


def perform(
    order: WorkloadOrder, cluster: ClusterClient, step: Progress, inner: Inner | None = None
) -> Done:
    """Checks, prepares, runs, and cleans up, whatever happens; `inner` runs it in another way.

    Raises UserError before anything starts when it cannot work.
    """
    workload = order.workload
    scratch = Path(tempfile.mkdtemp(prefix=f"iostrata-{workload.name}-"))
    context = Context(order.values, order.seed, cluster, order.place, scratch, step, order.tag)
    try:
        step(CHECK)
        check(workload, context)
        begun = time.monotonic()
        try:
            workload.prepare(context)
            prepared = time.monotonic()
            result = (inner or workload.run)(context)
            ended = time.monotonic()
        except BaseException:
            step(CLEAN)
            undo(workload, context)
            raise
        step(CLEAN)
        if not order.keep:
            cluster.remove(context.folder)
        return Done(order, result, prepared - begun, ended - prepared)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def check(workload: Workload, context: Context) -> None:
    """Raises UserError for what cannot work: values, a place that is taken, too small a cluster."""
    workload.check(context)
    has = context.cluster.facts
    if not has.datanodes:
        raise UserError("HDFS has no live DataNode", "start one")
    yarn = workload.yarn(context)
    if yarn and not has.nodemanagers:
        raise UserError("YARN has no live NodeManager", "start one")
    if yarn and has.memory < has.job:
        raise UserError(
            f"YARN has {size(has.memory)} for containers, a job needs {size(has.job)}",
            "give its nodes more: yarn.nodemanager.resource.memory-mb",
        )
    needed = int(workload.bytes(context) * has.replication * ROOM)
    if needed > has.free:
        raise UserError(
            f"{workload.name} needs {size(needed)} in HDFS with {has.replication} replicas, "
            f"{size(has.free)} are free",
            "ask for less: --scale, --set",
        )
    if context.cluster.exists(context.folder):
        raise UserError(f"{context.folder} is there already", "name another --folder")


def undo(workload: Workload, context: Context) -> None:
    """Ends its jobs and removes what it has written, as far as the cluster still answers."""
    if workload.yarn(context):
        with suppress(UserError):
            context.cluster.job("end", context.tag)
    with suppress(UserError):
        context.cluster.remove(context.folder)


def hand_over(context: Context, workload: Workload, path: Path) -> None:
    """Writes down what `taken_over` needs to run it in another process."""
    path.write_text(
        json.dumps(
            {
                "workload": workload.name,
                "values": dict(context.values),
                "seed": context.seed,
                "folder": context.folder,
                "scratch": str(context.scratch),
                "tag": context.tag,
            }
        )
    )


def taken_over(path: Path, cluster: ClusterClient, step: Progress) -> Context:
    """The context that `hand_over` wrote."""
    said = json.loads(path.read_text())
    return Context(
        said["values"], said["seed"], cluster, said["folder"], Path(said["scratch"]), step,
        tag=said["tag"],
    )  # fmt: skip
