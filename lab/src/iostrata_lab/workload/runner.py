"""A workload from its check to its last byte: nothing half-done stays on the cluster."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from iostrata.progress import Progress
from iostrata.records import Record, builtins
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context, Result, Workload
from iostrata_lab.workload.parameters import Value
from iostrata_lab.workload.places import folder_of

CHECK, CLEAN = "check", "clean"


@dataclass(frozen=True)
class WorkloadOrder:
    """A workload to run. `folder` must not be there yet; '' takes a new one: in /tmp of HDFS, or in
    `mount`, a file system that a lab has mounted, or else where we are.
    """

    workload: Workload
    values: Mapping[str, Value]
    seed: int = 1
    folder: str = ""
    keep: bool = False
    mount: str = ""
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
        if self.folder and not self.workload.on_cluster:
            return str(Path(self.folder).absolute())
        new = f"iostrata-{self.workload.name}-{self.name}"
        home = "/tmp" if self.workload.on_cluster else self.mount or str(Path.cwd())
        return self.folder or f"{home}/{new}"


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
    place = folder_of(workload, cluster)
    try:
        step(CHECK)
        workload.check(context)
        place.check(workload, context)
        place.make(context)
        begun = time.monotonic()
        try:
            workload.prepare(context)
            prepared = time.monotonic()
            result = (inner or workload.run)(context)
            ended = time.monotonic()
        except BaseException:
            step(CLEAN)
            place.undo(workload, context)
            raise
        step(CLEAN)
        if not order.keep:
            place.remove(context)
        return Done(order, result, prepared - begun, ended - prepared)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


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
