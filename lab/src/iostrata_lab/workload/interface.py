"""What a workload is, and what it is given when it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from iostrata.progress import Progress
from iostrata.records import Record
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.parameters import Parameter, ParameterAnswer, Value

Result = Mapping[str, Any]
_T = TypeVar("_T", int, float, str, bool)


@dataclass(frozen=True)
class Context:
    """One run of a workload: what was asked, where, and who is told how far it is."""

    values: Mapping[str, Value]  # of every parameter, each of them checked
    seed: int
    cluster: ClusterClient
    folder: str  # in HDFS, or on a mount; of its own: removed afterwards unless it is to be kept
    scratch: Path  # here, empty, of its own: removed afterwards
    step: Progress
    tag: str  # of each of its jobs, which are ended with it

    @property
    def options(self) -> tuple[str, ...]:
        """What each of its jobs must be given: a second attempt would do more than was asked."""
        never = (f"-Dmapreduce.{kind}.speculative=false" for kind in ("map", "reduce"))
        return (f"-Dmapreduce.job.tags={self.tag}", *never)

    def number(self, name: str) -> int:
        """The value of a parameter that is a whole number."""
        return self._typed(name, int)

    def real(self, name: str) -> float:
        """The value of a parameter that is a number."""
        return self._typed(name, float)

    def text(self, name: str) -> str:
        """The value of a parameter that is a text."""
        return self._typed(name, str)

    def truth(self, name: str) -> bool:
        """The value of a parameter that is true or false."""
        return self._typed(name, bool)

    def _typed(self, name: str, kind: type[_T]) -> _T:
        value = self.values[name]
        if type(value) is not kind:
            raise TypeError(f"{name} is {value!r}, not of type {kind.__name__}")
        return value


def _nothing(_: Context) -> None:
    """Of workloads that need no check, or no input."""


def _yes(_: Context) -> bool:
    return True


def _no_bytes(_: Context) -> int:
    return 0


class WorkloadAnswer(Record, frozen=True):
    """A workload as JSON has it."""

    name: str
    about: str
    stresses: str
    parameters: list[ParameterAnswer]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Workload:
    """What a cluster, or a file system, can be made to do.

    `check` raises UserError for parameters that are impossible together, before anything starts.
    `bytes` is what it has in files at the most, without replicas. `prepare` makes its input, which
    is not recorded; `run` does the work and says what became of it, in JSON values.
    """

    name: str
    about: str  # one line
    stresses: str  # which layers or parts of a cluster
    parameters: tuple[Parameter, ...]
    run: Callable[[Context], Result]
    check: Callable[[Context], None] = _nothing
    prepare: Callable[[Context], None] = _nothing
    bytes: Callable[[Context], int] = _no_bytes
    steps: tuple[str, ...] = ()  # what `prepare` and `run` say to `Context.step`, in this order
    yarn: Callable[[Context], bool] = _yes  # it runs jobs there
    on_cluster: bool = True  # else it writes to a folder of a mounted file system
    sources: tuple[str, ...] = field(default=())  # papers and data it follows

    def answer(self) -> WorkloadAnswer:
        return WorkloadAnswer(
            name=self.name,
            about=self.about,
            stresses=self.stresses,
            parameters=[parameter.answer() for parameter in self.parameters],
            sources=self.sources,
        )
