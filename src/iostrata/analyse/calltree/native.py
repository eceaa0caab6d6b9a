"""The call trees of `iostrata-native calltree`, and the one way to ask it.

Calls whose parent is of another thread, process or host hang from it. What exists only in sums
hangs as a leaf from the task, phase, block or RPC around it, so a tree has as many calls and bytes
of each operation as the sums of the run. docs/decisions/0014-call-trees.md.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from iostrata.artifacts import native_binary
from iostrata.errors import InternalError, UserError
from iostrata.progress import Progress, silent
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.store.opened import OpenedRun

ORDERS = ("paths", "sets", "runs")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Choice:
    """How trees are made: `order` of ORDERS, `by` op or point, patterns or files of them."""

    order: str = "paths"
    by: str = "op"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Those of `iostrata-native calltree`."""
        keep = [f"--keep={pattern}" for pattern in self.keep]
        drop = [f"--drop={pattern}" for pattern in self.drop]
        return [f"--order={self.order}", f"--by={self.by}", *keep, *drop]


class SampledTotal(Record, frozen=True):
    """A total that requests of a sample add, its variance, and the squares of the terms of that."""

    total: float
    variance: float
    squares: float


class NodeSample(Record, frozen=True):
    """What the requests that were drawn say, to be added to what was recorded in any case."""

    requests: Count
    calls: SampledTotal
    total: SampledTotal
    self: SampledTotal
    bytes: SampledTotal


class Merged(Record, frozen=True):
    """Calls that were put together: `spans` recorded individually, `calls` with those of sums.

    `elsewhere`: the part of `self` in which what the calls caused ran in other threads.
    `histogram`: buckets of `analyse.buckets` with their calls.
    """

    layer: str
    op: str
    spans: Count
    calls: Count
    errors: Count
    bytes: Bytes
    total: Ns
    self: Ns
    elsewhere: Ns
    min: Ns | None
    max: Ns
    estimated: bool
    histogram: list[tuple[int, Count]]


class MergedNode(Merged, frozen=True):
    """A node of the trees; `id` and `parent` (None: a root) are 16 hexadecimal digits."""

    id: str
    parent: str | None
    depth: int
    sample: NodeSample | None = None


class MergedFunction(Merged, frozen=True):
    """All calls of a function in processes of a role on a host."""

    role: str
    host: str
    sample: NodeSample | None = None


class Clock(Record, frozen=True):
    """What is added to times of `host` to compare them with those of `reference`; the truth is
    between `low` and `high`, as `calls` across both say.
    """

    host: str
    reference: str
    offset: Ns
    low: Ns | None
    high: Ns | None
    calls: Count


class CallTrees(Record, frozen=True):
    """The call trees of a run: each node stands before those below it.

    `calltree` is the version of the document. `orphans`: spans without a place of their own.
    `unsummed`: calls that no row of kind `sum` counts. `sampled`: some nodes are estimates from a
    sample of the requests. `evidence`: what clocks are made of.
    """

    calltree: int
    order: str
    by: str
    spans: Count
    left_out: Count
    orphans: dict[str, Count]
    unsummed: Count
    sampled: bool
    clocks: list[Clock]
    evidence: msgspec.Raw
    nodes: list[MergedNode]
    functions: list[MergedFunction]


def call_trees(
    opened: OpenedRun, choice: Choice | None = None, progress: Progress = silent
) -> CallTrees:
    """The call trees of a run, the step "call tree"; raises UserError."""
    arguments = [*(choice or Choice()).arguments(), f"--memory={opened.memory}"]
    return ask(CallTrees, [*of_run(opened), *arguments], "call tree", progress)


def of_run(opened: OpenedRun) -> list[str]:
    """The arguments that name a run without the files that cannot be read."""
    skip = [f"--skip={path}" for path in opened.skipped]
    return ["--run", str(opened.run.path.resolve()), *skip]


def ask(
    kind: type[_T], arguments: Sequence[str], step: str = "", progress: Progress = silent
) -> _T:
    """The answer of `iostrata-native calltree ARGUMENTS` as a `kind`; raises UserError.

    `progress` is called as the step begins, and whenever the part that is finished has grown by a
    percent.
    """
    progress(step)
    says = [] if progress is silent else ["--progress"]
    command = [str(native_binary()), "calltree", *arguments, *says]
    lines = ["it said nothing"]
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as child,
    ):
        try:
            for line in child.stderr or ():
                if says and line.startswith("{"):
                    progress(step, json.loads(line)["percent"] / 100)
                else:
                    lines.append(line.strip())
        except BaseException:  # Ctrl-C may have reached us alone
            child.kill()
            raise
        if child.wait() == -signal.SIGABRT:
            raise UserError(f"call trees: {lines[-1]}", "give more memory with IOSTRATA_MEMORY")
        if child.returncode != 0:
            raise UserError(f"call trees: {lines[-1].removeprefix('iostrata-native: ')}")
        out.seek(0)
        answer = out.read()
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.ValidationError as error:
        raise InternalError(f"iostrata-native made no {kind.__name__}: {error}") from error
