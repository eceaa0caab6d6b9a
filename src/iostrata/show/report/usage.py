"""What jobs and attempts took over time, and the space that jobs used, as curves over bins of the
axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from iostrata.analyse.axis import Axis
from iostrata.analyse.lifetimes import Level, Owner, levels_at
from iostrata.analyse.usage import AttemptUsage, JobUsage
from iostrata.show.report.model import Bounded, SpaceCurve, Usage, UsageCurve

Bin = JobUsage | AttemptUsage
_RATES = ("io_read", "io_written", "disk_read", "disk_written")


def usage(
    jobs: Sequence[JobUsage],
    attempts: Sequence[AttemptUsage],
    spaces: Mapping[Owner, Sequence[Level]],
    axis: Axis,
    recorded: bool,
) -> Usage:
    """The curves; `recorded`: the run has a table of CPU and I/O."""
    missing = "" if jobs else "no process was looked at while this run recorded"
    if not recorded:
        missing = "what processes took over time was not recorded in this run"
    space = [_space(owner, steps, axis) for owner, steps in spaces.items()]
    space.sort(key=lambda curve: -max(map(sum, zip(curve.temporary, curve.permanent, strict=True))))
    of_jobs, of_attempts = _curves(jobs, axis), _curves(attempts, axis)
    return Usage(missing, Bounded(of_jobs, 0), Bounded(of_attempts, 0), Bounded(space, 0))


def _space(owner: Owner, steps: Sequence[Level], axis: Axis) -> SpaceCurve:
    begin = max(0, (steps[0].at - axis.start) // axis.bin)
    first = min(begin, axis.bins - 1)
    ends = (axis.start + (place + 1) * axis.bin for place in range(first, axis.bins))
    found = levels_at(steps, ends)
    temporary, permanent = zip(*((each.temporary, each.permanent) for each in found), strict=True)
    return SpaceCurve(*owner, first, list(temporary), list(permanent))


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
