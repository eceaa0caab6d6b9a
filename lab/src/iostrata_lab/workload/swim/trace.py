"""The published traces of SWIM: which jobs came when, and how many bytes went where.

Lines of tabs without a header, also compressed with gzip: job, s from the start of the workload to
its submission, s since the submission before, bytes of map input, of shuffle, of output; in some
traces the path of the input and two empty columns
(https://github.com/SWIMProjectUCB/SWIM/wiki/Workloads-repository).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iostrata.errors import UserError

LONGEST_GAP = 600  # s: beyond, the published traces have outages (3710 s), no pauses
DATA = Path(__file__).with_name("data")
SHIPPED = {
    "fb-2009-first50": DATA / "FB-2009_samples_24_times_1hr_0_first50jobs.tsv",
    "fb-2009": DATA / "FB-2009_samples_24_times_1hr_0.tsv",
}
HEAVY = ("map-heavy", "shuffle-heavy", "reduce-heavy")
_COLUMNS = ("job", "submit", "gap", "input", "shuffle", "output")
_WIDTHS = (6, 9)  # without and with paths


@dataclass(frozen=True)
class TraceJob:
    """A line of a trace: times in s, sizes in bytes. `path` is '' where the trace has none."""

    name: str
    submit: int
    gap: int
    input: int
    shuffle: int
    output: int
    path: str = ""

    @property
    def map_only(self) -> bool:
        """Nothing was shuffled, so there was no reduce."""
        return self.shuffle == 0

    @property
    def heavy(self) -> str:
        """Where most of its bytes are, in the words of S3; '' for a job without bytes."""
        sizes = (self.input, self.shuffle, self.output)
        return HEAVY[sizes.index(max(sizes))] if any(sizes) else ""


def read(name: str) -> list[TraceJob]:
    """The jobs of a shipped trace, or of the file of that name, in order.

    Raises UserError, with file, line and value, for what is no such trace.
    """
    path = SHIPPED.get(name, Path(name))
    jobs: list[TraceJob] = []
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}:{number}"
        job = _job(line, where)
        if jobs and job.gap != job.submit - jobs[-1].submit:
            raise UserError(
                f"{where}: gap {job.gap} s is not submit {job.submit} s less the one before, "
                f"{jobs[-1].submit} s",
                "a trace is in the order of its submissions",
            )
        jobs.append(job)
    if not jobs:
        raise UserError(f"{path} has no job", "a line for each: see the guide, workload-swim")
    return jobs


def without_outages(jobs: Sequence[TraceJob]) -> tuple[list[TraceJob], int]:
    """The jobs, those after a gap of more than LONGEST_GAP at once; and how many those are."""
    kept: list[TraceJob] = []
    lost = outages = 0
    for job in jobs:
        if job.gap > LONGEST_GAP:
            outages += 1
            lost += job.gap
            job = replace(job, gap=0)
        kept.append(replace(job, submit=job.submit - lost))
    return kept, outages


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as probe:
            zipped = probe.read(2) == b"\x1f\x8b"
        with (
            gzip.open(path, "rt", encoding="utf-8") if zipped else path.open("r", -1, "utf-8") as f
        ):
            for line in f:
                yield line.removesuffix("\n")
    except OSError as error:
        names = ", ".join(SHIPPED)
        why = error.strerror or str(error)
        raise UserError(f"{path}: {why}", f"name a file, or one of {names}") from None
    except (UnicodeDecodeError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: no text: {error}", "a trace has lines of tabs") from None


def _job(line: str, where: str) -> TraceJob:
    fields = line.split("\t")
    if len(fields) not in _WIDTHS:
        raise UserError(
            f"{where}: {len(fields)} columns in {line[:60]!r}",
            "6, or 9 with paths: job, submit, gap, input, shuffle, output",
        )
    if not (fields[0] and fields[0].isprintable()):  # it becomes the job's, in XML
        raise UserError(f"{where}: job={fields[0]!r}", "a name without control characters")
    submit, gap, *sizes = (_number(fields[i], _COLUMNS[i], where) for i in range(1, 6))
    path = fields[6] if len(fields) > 6 else ""
    return TraceJob(fields[0], submit, gap, sizes[0], sizes[1], sizes[2], path)


def _number(text: str, column: str, where: str) -> int:
    """Of ASCII digits alone, below 2^63: what Java calls a long."""
    if not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) >= 1 << 63:
        raise UserError(f"{where}: {column}={text!r}", "a whole number from 0")
    return int(text)
