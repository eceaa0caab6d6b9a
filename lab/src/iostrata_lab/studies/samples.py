"""Samples by label, and lists among parameters."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.errors import UserError
from iostrata_lab.studies.interface import StudyRun


def by_label(samples: Sequence[StudyRun]) -> dict[str, list[StudyRun]]:
    """In the order in which labels come first."""
    found: dict[str, list[StudyRun]] = {}
    for sample in samples:
        found.setdefault(sample.label, []).append(sample)
    return found


def listed(text: str) -> list[str]:
    """The parts of a value like `a,b,c`; raises UserError where there is none, or one twice."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or len(set(parts)) != len(parts):
        raise UserError(f"{text!r} is no list", "say each once, with commas between them")
    return parts
