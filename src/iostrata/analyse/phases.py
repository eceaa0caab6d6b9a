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

    The begin of a call is exact, but that of a sum is the time at which the collector last looked
    at it. So only where a phase has no call, it begins with the end of its first sum. What servers
    did for an attempt is in no phase.
    """
    rows = EVENTS.filter(EVENTS.kind.isin(["call", "sum"]), EVENTS.phase.fill_null("") != "")
    rows = rows.semi_join(PROCESSES, ["proc", "task"])
    end, call = rows.start + rows.dur, rows.kind == "call"
    grouped = rows.group_by("job", "task", "phase").agg(
        start=ibis.coalesce(rows.start.min(where=call), end.min()),
        end=end.max(),
        time=rows.dur.sum(where=call & outer(rows)).fill_null(0).cast("int64"),
    )
    return grouped.order_by("start", "task", "phase")
