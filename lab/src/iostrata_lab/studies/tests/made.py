"""Samples made by hand."""

from __future__ import annotations

from iostrata_lab.studies.interface import Row, StudyRun

START = "2026-11-23T12:00:00+00:00"
WHOLE: Row = {
    "processes": 3, "traced": 3, "dropped": 0, "collapsed": 0, "lost": 0, "missing": [],
}  # fmt: skip


def sample(
    label: str, measured: Row, repeat: int = 1, seconds: float = 10.0, **result: object
) -> StudyRun:
    """Of a run of 10 s unless `seconds` says otherwise; `result` is what its workload said."""
    run = f"run-{label}-{repeat}"
    return StudyRun(label, repeat, run, START, seconds, dict(result), measured, WHOLE)
