"""What the study knows: predictions, which are written before anything is measured, and times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostrata.predict.ranking import Forecast
from iostrata.records import Bytes, Count, Ns, Record
from iostrata_lab.studies.kept import keep, locked, read_kept


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


class PredictedJobCase(Record, frozen=True):
    """A job on a cluster of so many nodes with disks of `disk` bytes/s, from its recorded `run`:
    ns, the likely ones, the least and the most.
    """

    job: str
    nodes: Count
    disk: Bytes
    run: str
    time: Ns
    least: Ns
    most: Ns


class MeasuredJob(Record, frozen=True):
    """How long it took there, in seconds, in a repeat from 1."""

    job: str
    nodes: Count
    disk: Bytes
    repeat: int
    seconds: float


class PredictResult(Record, frozen=True):
    """All of them."""

    predicted: list[PredictedCase]
    measured: list[MeasuredCase]
    jobs: list[PredictedJobCase]
    job_times: list[MeasuredJob]

    @staticmethod
    def empty() -> PredictResult:
        """Where nothing is known yet."""
        return PredictResult([], [], [], [])

    def times(self, case: PredictedCase) -> list[float]:
        """Measured ones, in seconds."""
        whose = (case.program, case.storage)
        return [one.seconds for one in self.measured if (one.program, one.storage) == whose]

    def times_of_job(self, case: PredictedJobCase) -> list[float]:
        """Likewise."""
        whose = (case.job, case.nodes, case.disk)
        return [one.seconds for one in self.job_times if (one.job, one.nodes, one.disk) == whose]


class KeptResult:
    """`result.json` in a folder of a study: what was measured is kept at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "result.json"
        self.result = PredictResult.empty()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Reads what is there, and keeps others out; raises UserError where that cannot be."""
        with locked(self.folder, "this study", "wait for its end"):
            self.result = read_kept(self._file, PredictResult, self.result)
            yield

    def keep(self) -> None:
        keep(self._file, self.result)
