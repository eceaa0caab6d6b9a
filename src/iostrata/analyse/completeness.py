"""What of a run is there: processes, calls, and the causes that hold them together."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, EVENTS, PROCESSES

_LOSSES = ("dropped", "collapsed", "lost", "rejected")


def completeness() -> ir.Table:
    """Per host and role: host, role, processes, traced (of these), killed, calls (in sums), detail
    (recorded individually), dropped (in sums alone, because a ring was full), collapsed (in sums
    without task and category), lost (in no sum), rejected (segments and names that could not be
    made).
    """
    rows = PROCESSES.mutate(host=PROCESSES.host.fill_null(""), role=PROCESSES.role.fill_null(""))
    found = rows.group_by("host", "role").agg(
        processes=rows.count(),
        traced=rows.count(where=rows.traced),
        killed=rows.count(where=rows["exit"] == "killed"),
        **{
            name: rows[name].sum().fill_null(0).cast("int64")
            for name in ("calls", "detail", *_LOSSES)
        },
    )
    return found.order_by("host", "role")


def gaps() -> ir.Table:
    """Where calls one by one are missing, because a ring was full: host, role, proc, gaps, calls,
    first, last (ns since the epoch); most calls first.
    """
    rows = EVENTS.filter(EVENTS.kind == "gap")
    found = rows.group_by("host", "role", "proc").agg(
        gaps=rows.count(),
        calls=rows.bytes.sum().fill_null(0).cast("int64"),
        first=rows.start.min(),
        last=(rows.start + rows.dur.fill_null(0)).max(),
    )
    return found.order_by(ibis.desc("calls"), "host", "proc")


def causes() -> ir.Table:
    """How calls kept one by one hang together, per layer and role: layer, role, calls, then of
    these: roots (the process itself is the cause), within (the cause is a call of the same
    process), across (of another one), missing (the cause is not in the run: its process is not
    traced, or its detail was dropped); the last four add up to calls.
    """
    spans = EVENTS.filter(EVENTS.kind.isin(["call", "begin", "unfinished"]), EVENTS.span.notnull())
    spans = spans.select(cause_proc=spans.proc, cause=spans.span).distinct()
    rows = CALLS.select(
        "layer",
        "proc",
        "parent",
        role=CALLS.role.fill_null(""),
        of=CALLS.parent_proc.fill_null(CALLS.proc),
    )
    rows = rows.left_join(spans, [rows.of == spans.cause_proc, rows.parent == spans.cause])
    root, known = rows.parent.isnull(), rows.cause.notnull()
    own = rows.of == rows.proc
    found = rows.group_by("layer", "role").agg(
        calls=rows.count(),
        roots=rows.count(where=root),
        within=rows.count(where=~root & known & own),
        across=rows.count(where=~root & known & ~own),
        missing=rows.count(where=~root & ~known),
    )
    return found.order_by("layer", "role")
