"""Jobs whose files are temporary or stay, and what they wait for, by what was recorded (S3.5).

The paper runs a job once and looks at `df`: it is a temp-file job where less than a tenth of the
most that it used is left. Runs of a job differ, so each has a vote here, and without a
majority nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import median
from typing import TypeVar

from iostrata.place.samples import JobSample
from iostrata.records import Bytes, Count, Record, Share

BETA = 0.1  # of the most that a job uses, as in the paper
_LITTLE = 1 << 20  # bytes: a job that never uses more has nothing to place
_Vote = TypeVar("_Vote", bound=StrEnum)
_COMPUTES = 0.5  # of its time: a job with more waits for the CPU, and not for disks


class FileKind(StrEnum):
    """What most of the space of a job is for."""

    temporary = "temporary"
    permanent = "permanent"
    unknown = "unknown"


class Bound(StrEnum):
    """What tasks do for most of their time."""

    cpu = "cpu"
    io = "io"
    unknown = "unknown"


class JobClass(Record, frozen=True):
    """Jobs of a pattern: a verdict on each question, and how sure it is.

    `runs` voted; `files_sure` and `bound_sure` are the chance that the next one votes likewise
    ((votes + 1) / (runs + 2), the rule of succession). `most`: the median of what they used at a
    time, in bytes.
    """

    pattern: str
    runs: Count
    files: FileKind
    files_sure: Share
    bound: Bound
    bound_sure: Share
    most: Bytes
    samples: list[JobSample]


def classes(samples: Iterable[JobSample], beta: float = BETA) -> list[JobClass]:
    """Of each pattern, those first that use most space. Jobs that use next to none are left out."""
    by_pattern: dict[str, list[JobSample]] = defaultdict(list)
    for one in samples:
        if one.most >= _LITTLE:
            by_pattern[one.pattern].append(one)
    found = [_class(pattern, some, beta) for pattern, some in by_pattern.items()]
    return sorted(found, key=lambda one: (-one.most, one.pattern))


def _class(pattern: str, samples: list[JobSample], beta: float) -> JobClass:
    samples = sorted(samples, key=lambda one: (one.start, one.run))
    kept = [FileKind.temporary if one.kept < beta else FileKind.permanent for one in samples]
    waits = [
        Bound.cpu if one.computed > _COMPUTES else Bound.io
        for one in samples
        if one.computed is not None
    ]
    files, files_sure = _majority(kept, FileKind.unknown)
    bound, bound_sure = _majority(waits, Bound.unknown)
    most = round(median(one.most for one in samples))
    return JobClass(pattern, len(samples), files, files_sure, bound, bound_sure, most, samples)


def _majority(votes: Sequence[_Vote], nobody: _Vote) -> tuple[_Vote, Share]:
    """What more than half say, and how sure that is."""
    for one in dict.fromkeys(votes):
        if 2 * votes.count(one) > len(votes):
            return one, (votes.count(one) + 1) / (len(votes) + 2)
    return nobody, 0.0
