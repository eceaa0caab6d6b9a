"""What a change would bring to a recorded run: its replay with it beside the one without."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

import msgspec

from iostrata.progress import Progress, silent
from iostrata.records import Count, Ns, Record, Share
from iostrata.replay.alternative import Alternative, changed
from iostrata.replay.fitted import FittedRun
from iostrata.replay.jobs import RecordedJobs
from iostrata.replay.layout import hosts_of
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.schedule import Replay
from iostrata.store.opened import OpenedRun
from iostrata.text import plural

STEPS = ("jobs", "fit", "replay")
_UNEVEN = 0.6  # of the hosts that reduces could have, each its own: so few are chance


class RoleTimes(Record, frozen=True):
    """Attempts of a role: how many, and the mean time of one, as replayed without and with the
    change.
    """

    role: str
    attempts: Count
    before: Ns
    attempts_after: Count
    after: Ns


class WhatIf(Record, frozen=True):
    """The time of a run, and of it with a change; of several runs of a job, their means.

    `recorded`: as it was; `replayed`: its replay without a change, which should be the same;
    `predicted`: with the change; `low` and `high`: what nine of ten measured times of such changes
    were within, around all that the traces leave open of how jobs share their disks. `kept`: of the
    time of attempts, what neither CPU nor disks explain, so that no change of these alters it.
    """

    runs: list[str]
    changes: list[str]
    assumes: list[str]
    recorded: Ns
    replayed: Ns
    predicted: Ns
    low: Ns
    high: Ns
    kept: Share
    roles: list[RoleTimes]

    @property
    def off(self) -> Share:
        """What the replay without a change is longer than the run."""
        return self.replayed / self.recorded - 1

    @property
    def gain(self) -> Share:
        """Of the time of the run, what the change saves; below 0 where it costs."""
        return 1 - self.predicted / self.recorded


def what_if(
    opened: OpenedRun, changes: Sequence[Alternative], progress: Progress = silent
) -> WhatIf:
    """Replays the jobs of a run without and with changes; raises UserError."""
    progress("jobs")
    recorded = recorded_jobs(opened)
    changed(recorded, changes)  # whether it can be
    fitted = FittedRun(recorded, progress)
    progress("replay")
    after, predicted = fitted.after(changes)
    return WhatIf(
        runs=[opened.run.name],
        changes=[change.says for change in changes],
        assumes=[*(change.assumes for change in changes), *shared_by_chance(recorded)],
        recorded=_ns(recorded.wall),
        replayed=_ns(fitted.before[0].wall),
        predicted=_ns(predicted.wall),
        low=_ns(predicted.low),
        high=_ns(predicted.high),
        kept=fitted.likely[0].kept,
        roles=_roles(fitted.before[0], after),
    )


def shared_by_chance(recorded: RecordedJobs) -> list[str]:
    """A line for each job whose reduces share hosts, and with them disks, while others run none."""
    hosts = len(hosts_of(recorded))
    found = []
    for job in recorded.jobs:
        reduces = [one.host for one in job.attempts if one.role == "reduce"]
        used, could = len(set(reduces)), min(len(reduces), hosts)
        if used <= _UNEVEN * could:
            found.append(
                f"the {len(reduces)} reduces of {job.name} share {plural(used, 'host')} of "
                f"{hosts}; other runs may place them otherwise: name several, to see their mean"
            )
    return found


def mean_of(found: Sequence[WhatIf]) -> WhatIf:
    """Of runs of the same job, with the same changes: where tasks are placed differs from one run
    to the next, and with it what a change brings. The range holds all theirs.
    """
    if len(found) == 1:
        return found[0]

    def mean(times: Iterable[Ns]) -> Ns:
        return round(fmean(times))

    return msgspec.structs.replace(
        found[0],
        runs=[run for one in found for run in one.runs],
        assumes=list(dict.fromkeys(line for one in found for line in one.assumes)),
        recorded=mean(one.recorded for one in found),
        replayed=mean(one.replayed for one in found),
        predicted=mean(one.predicted for one in found),
        low=min(one.low for one in found),
        high=max(one.high for one in found),
        kept=fmean(one.kept for one in found),
        roles=_means_of_roles([row for one in found for row in one.roles]),
    )


def _means_of_roles(rows: Sequence[RoleTimes]) -> list[RoleTimes]:
    """Of each role: attempts as in its first row, and mean times."""
    found = []
    for role in sorted({row.role for row in rows}):
        some = [row for row in rows if row.role == role]
        before, after = (
            round(fmean(getattr(row, name) for row in some)) for name in ("before", "after")
        )
        found.append(msgspec.structs.replace(some[0], before=before, after=after))
    return found


def _roles(before: Replay, after: Replay) -> list[RoleTimes]:
    roles = sorted({one.role for one in before.attempts})
    return [RoleTimes(role, *_of_role(before, role), *_of_role(after, role)) for role in roles]


def _of_role(replayed: Replay, role: str) -> tuple[int, int]:
    """How many attempts, and the mean time of one in ns."""
    times = [one.end - one.start for one in replayed.attempts if one.role == role]
    return len(times), _ns(sum(times) / len(times))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
