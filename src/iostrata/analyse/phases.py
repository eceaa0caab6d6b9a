"""What attempts did one after the other: map, sort, shuffle, reduce."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import EVENTS, PROCESSES, outer
from iostrata.records import EpochNs, Ns, Record


class Phase(Record, frozen=True):
    """A phase of an attempt; `time`: of all threads in calls that were recorded individually."""

    job: str | None
    task: str
    phase: str
    start: EpochNs
    end: EpochNs
    time: Ns


def phases() -> ir.Table:
    """Per attempt and phase a `Phase`, in order of their begin.

    A call begins exactly; sums begin when they were last looked at, so only where there is no call
    the end of the first sum stands for the begin of the phase. What servers did for an attempt is
    in none.
    """
    rows = EVENTS.filter(EVENTS.kind.isin(["call", "sum"]), EVENTS.phase.fill_null("") != "")
    rows = rows.semi_join(PROCESSES, ["proc", "task"])
    end, call = rows.start + rows.dur, rows.kind == "call"
    found = rows.group_by("job", "task", "phase").agg(
        start=ibis.coalesce(rows.start.min(where=call), end.min()),
        end=end.max(),
        time=rows.dur.sum(where=call & outer(rows)).fill_null(0).cast("int64"),
    )
    return found.order_by("start", "task", "phase")
