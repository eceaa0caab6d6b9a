"""What the study knows: predictions, which are written before anything is measured, and times."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from iostrata.errors import UserError
from iostrata.predict.ranking import Forecast
from iostrata.records import Record, builtins


class PredictedCase(Record, frozen=True):
    """A program on a storage, `forecast` from its recorded `run`; times in ns."""

    program: str
    storage: str
    run: str
    forecast: Forecast


class MeasuredCase(Record, frozen=True):
    """How long it took there, in seconds, in a repeat from 1."""

    program: str
    storage: str
    repeat: int
    seconds: float


class PredictResult(Record, frozen=True):
    """All of both."""

    predicted: list[PredictedCase]
    measured: list[MeasuredCase]

    def times(self, case: PredictedCase) -> list[float]:
        """Measured ones, in seconds."""
        whose = (case.program, case.storage)
        return [one.seconds for one in self.measured if (one.program, one.storage) == whose]


class KeptResult:
    """`result.json` in a folder of a study: what was measured is kept at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "result.json"
        self.result = PredictResult([], [])

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Reads what is there, and keeps others out; raises UserError where that cannot be."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UserError("this study runs already", "wait for its end") from error
            if self._file.exists():
                try:
                    self.result = msgspec.json.decode(self._file.read_bytes(), type=PredictResult)
                except (OSError, ValueError) as error:
                    raise UserError(f"{self._file}: {error}", f"rm {self._file}") from error
            yield

    def keep(self) -> None:
        draft = self._file.with_suffix(".tmp")
        draft.write_text(json.dumps(builtins(self.result), indent=1) + "\n")
        draft.replace(self._file)
