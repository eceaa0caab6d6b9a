"""What jobs and attempts took over time, as curves over bins of the axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostrata.analyse.axis import Axis
from iostrata.analyse.usage import AttemptUsage, JobUsage
from iostrata.show.report.model import Bounded, Usage, UsageCurve

Bin = JobUsage | AttemptUsage
_RATES = ("io_read", "io_written", "disk_read", "disk_written")


def usage(
    jobs: Sequence[JobUsage], attempts: Sequence[AttemptUsage], axis: Axis, recorded: bool
) -> Usage:
    """The curves; `recorded`: the run has a table of them."""
    if not recorded:
        none: Bounded[UsageCurve] = Bounded([], 0)
        return Usage("what processes took over time was not recorded in this run", none, none)
    missing = "" if jobs else "no process was looked at while this run recorded"
    return Usage(missing, Bounded(_curves(jobs, axis), 0), Bounded(_curves(attempts, axis), 0))


def _curves(bins: Iterable[Bin], axis: Axis) -> list[UsageCurve]:
    """Those first that took most CPU."""
    found: dict[tuple[str | None, str | None, str | None], dict[int, Bin]] = {}
    for row in bins:
        if row.bin < axis.bins:
            task = row.task if isinstance(row, AttemptUsage) else None
            found.setdefault((row.job, task, row.role), {})[row.bin] = row
    longest = sorted(found, key=lambda key: -sum(row.cpu for row in found[key].values()))
    return [_curve(key, found[key], axis) for key in longest]


def _curve(
    whose: tuple[str | None, str | None, str | None], bins: dict[int, Bin], axis: Axis
) -> UsageCurve:
    first, seconds = min(bins), axis.bin / 1e9
    rows = [bins.get(place) for place in range(first, max(bins) + 1)]
    cpu = [None if row is None else round(row.cpu / axis.bin, 3) for row in rows]
    io_read, io_written, disk_read, disk_written = (
        [_rate(row, name, seconds) for row in rows] for name in _RATES
    )
    return UsageCurve(*whose, first, cpu, io_read, io_written, disk_read, disk_written)


def _rate(row: Bin | None, name: str, seconds: float) -> float | None:
    """Whole bytes per second: a page draws no more."""
    moved: int | None = getattr(row, name, None)
    return None if moved is None else round(moved / seconds)
