"""What a study of predictions is, and what a user wants of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from iostrata.errors import UserError
from iostrata.record.session import RecordRequest, record
from iostrata_lab.predict.jobs import PredictedJob
from iostrata_lab.predict.programs import PredictedProgram
from iostrata_lab.predict.result import PredictResult
from iostrata_lab.predict.storages import PredictedStorage
from iostrata_lab.studies.interface import Described, Outcome
from iostrata_lab.workload.parameters import Value

_Case = TypeVar("_Case")


@dataclass(frozen=True)
class PredictStudy(Described):
    """Programs that are recorded in memory, predicted on storages, and run there; jobs of Hadoop
    that are recorded on one cluster, predicted on others, and run there.
    """

    programs: tuple[PredictedProgram, ...]
    storages: tuple[PredictedStorage, ...]
    jobs: tuple[PredictedJob, ...]
    conclude: Callable[[PredictResult], Outcome]


@dataclass(frozen=True)
class PredictOrder:
    """What a user wants of it."""

    study: PredictStudy
    values: Mapping[str, Value]
    repeats: int
    seed: int
    store: Path

    def rounds(
        self, place: str, cases: Iterable[_Case], known: Collection[tuple[_Case, int]]
    ) -> list[tuple[_Case, int]]:
        """What is to be measured at a place beside what is known, with the repeat from 1: each
        round has all cases, in an order of its own.
        """
        drawn = random.Random(f"{self.seed} {place} {len(known)}")
        every = [(case, repeat) for repeat in range(1, self.repeats + 1) for case in cases]
        wanted = [one for one in every if one not in known]
        return sorted(wanted, key=lambda one: (one[1], drawn.random()))

    @property
    def called(self) -> str:
        """The same for the same parameters: so what was measured is found again."""
        words = json.dumps([sorted(self.values.items()), self.seed]).encode()
        return f"{self.study.name}-{sha256(words).hexdigest()[:8]}"


def record_whole(request: RecordRequest) -> None:
    """Records a run that predictions can be made of; raises UserError where it failed."""
    found = record(request, None)
    if found.state == "interrupted":
        raise KeyboardInterrupt
    if found.code or not found.published:
        said = f"run {request.run} is not whole: {found.message}"
        raise UserError(f"{request.title}: {said}", exit_code=1)
