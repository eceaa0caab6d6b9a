"""Samples made by hand."""

from __future__ import annotations

from iostrata.studies.interface import Row, Sample


def sample(
    label: str, measured: Row, repeat: int = 1, seconds: float = 10.0, **result: object
) -> Sample:
    """Of a run of 10 s unless `seconds` says otherwise; `result` is what its workload said."""
    return Sample(label, repeat, f"run-{label}-{repeat}", seconds, dict(result), measured)
