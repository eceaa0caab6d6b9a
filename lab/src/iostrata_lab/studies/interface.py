"""What a study is, what it is made of, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iostrata.records import Record
from iostrata.store.opened import OpenedRun
from iostrata_lab.workload.parameters import Parameter, ParameterAnswer, Value

Row = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A run that a study needs: a workload, with parameters as `workload run --set` takes them.

    `label` is what the study's tables call it.
    """

    label: str
    workload: str
    given: tuple[str, ...]


@dataclass(frozen=True)
class StudyRun:
    """A recorded run and what was measured in it, in JSON values.

    `start` (UTC) and wall time `seconds` of what was recorded; `result` is what the workload said;
    `traced` how complete the run is: numbers of processes, of those that were traced, of calls that
    are dropped (in totals alone), collapsed (without task), lost (in no total), and what is
    missing.
    """

    label: str
    repeat: int
    run: str
    start: str
    seconds: float
    result: Row
    measured: Row
    traced: Row


class ClaimVerdict(StrEnum):
    """Of what was found, beside what a paper claims."""

    agrees = "agrees"
    differs = "differs"
    unknown = "cannot be compared"


@dataclass(frozen=True)
class Claim:
    """What a paper says, whether it is so here, and the numbers and reasons for that."""

    says: str
    verdict: ClaimVerdict
    because: str


@dataclass(frozen=True)
class Table:
    """Cells as people read them; the first `names` columns hold no numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1


@dataclass(frozen=True)
class Outcome:
    """What a study comes to; `figure` is an SVG document."""

    tables: Sequence[Table]
    claims: Sequence[Claim]
    figure: str


class StudyAnswer(Record, frozen=True):
    """A study as JSON has it."""

    name: str
    about: str
    source: str
    differences: tuple[str, ...]
    parameters: list[ParameterAnswer]


class StudyDocument(Record, frozen=True):
    """What a study came to, as JSON has it: without its figure, with what each run measured."""

    study: str
    source: str
    differences: tuple[str, ...]
    tables: Sequence[Table]
    claims: Sequence[Claim]
    samples: Sequence[StudyRun]


@dataclass(frozen=True)
class Described:
    """A study of any kind, as pages and JSON name it."""

    name: str
    about: str  # one line
    source: str  # paper and section
    differences: tuple[str, ...]  # between the paper's setting and this one
    parameters: tuple[Parameter, ...]

    def answer(self) -> StudyAnswer:
        return StudyAnswer(
            name=self.name,
            about=self.about,
            source=self.source,
            differences=self.differences,
            parameters=[parameter.answer() for parameter in self.parameters],
        )


@dataclass(frozen=True)
class Study(Described):
    """What a paper measured, measured again.

    `plan` says which runs it needs, of the values of its parameters; it raises UserError for
    impossible ones. `measure` reads one run; `conclude` is a function of all samples alone.
    """

    plan: Callable[[Mapping[str, Value]], Sequence[Wanted]]
    measure: Callable[[OpenedRun], Row]
    conclude: Callable[[Sequence[StudyRun]], Outcome]
