"""What a study of predictions is, and what a user wants of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from iostrata_lab.predict.jobs import PredictedJob
from iostrata_lab.predict.programs import PredictedProgram
from iostrata_lab.predict.result import PredictResult
from iostrata_lab.predict.storages import PredictedStorage
from iostrata_lab.studies.interface import Described, Outcome
from iostrata_lab.workload.parameters import Value

Say = Callable[[str], None]


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

    @property
    def called(self) -> str:
        """The same for the same parameters: so what was measured is found again."""
        words = json.dumps([sorted(self.values.items()), self.seed]).encode()
        return f"{self.study.name}-{sha256(words).hexdigest()[:8]}"
