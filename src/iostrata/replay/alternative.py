"""A change that was asked for, and what numbers it was asked with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from iostrata.errors import UserError
from iostrata.replay.jobs import RecordedJobs


@dataclass(frozen=True)
class Alternative:
    """A change that was asked for. `apply` raises UserError where the run says too little for it;
    `says` and `assumes`: half sentences.
    """

    says: str
    assumes: str
    apply: Callable[[RecordedJobs], RecordedJobs]


def changed(recorded: RecordedJobs, changes: Iterable[Alternative]) -> RecordedJobs:
    """With all changes, one after the other; raises UserError."""
    for change in changes:
        recorded = change.apply(recorded)
    return recorded


def only_of(jobs: Iterable[str], change: Alternative) -> Alternative:
    """A change of some jobs of MapReduce alone; none is named: of all."""
    names = {name for name in jobs if name}

    def apply(recorded: RecordedJobs) -> RecordedJobs:
        some = tuple(job for job in recorded.jobs if not names or job.name in names)
        found = change.apply(msgspec.structs.replace(recorded, jobs=some))
        by_name = {job.name: job for job in found.jobs}
        whole = tuple(by_name.get(job.name, job) for job in recorded.jobs)
        return msgspec.structs.replace(found, jobs=whole)

    return Alternative(change.says, change.assumes, apply)


def with_cluster(recorded: RecordedJobs, **fields: object) -> RecordedJobs:
    """With another cluster in these fields of it."""
    cluster = msgspec.structs.replace(recorded.cluster, **fields)
    return msgspec.structs.replace(recorded, cluster=cluster)


def whole_number(text: str, name: str) -> int:
    """The value of the option or setting `name`; raises UserError."""
    number = positive_number(text, name, "a whole number such as 4")
    if number != int(number):
        raise UserError(f"{name} {text!r} is no whole number", "for example 4")
    return int(number)


def positive_number(text: str, name: str, example: str, least: float = 1e-9) -> float:
    """Likewise, at least `least`; `example` is what could be said instead; raises UserError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise UserError(f"{name} {text!r} is no number", f"for example {example}")
    return value
