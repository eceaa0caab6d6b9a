"""How often attempts wrote their records before anybody read them: spills and merges."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.tables import SUMS, counted_once

_OPERATIONS = ("record.collect", "record.append", "task.spill", "task.merge")


def spills() -> ir.Table:
    """Per attempt that put out, spilled or merged records: job, task, role, collected (records that
    a map put out), appended (records written to spills and merges), bytes (of these, before
    compression), spills, merges, spill_time, merge_time (ns), passes (appended over collected: how
    often each record was written; null where none was collected).
    """
    rows = SUMS.filter((SUMS.layer + "." + SUMS["op"]).isin(_OPERATIONS))
    done = account(rows, "job", "task", "role", "op", counted=counted_once)

    def of(op: str, name: str) -> ir.IntegerScalar:
        return done[name].sum(where=done["op"] == op).fill_null(0).cast("int64")

    found = done.group_by("job", "task", "role").agg(
        collected=of("collect", "calls"),
        appended=of("append", "calls"),
        bytes=of("append", "bytes"),
        spills=of("spill", "calls"),
        merges=of("merge", "calls"),
        spill_time=of("spill", "time"),
        merge_time=of("merge", "time"),
    )
    found = found.mutate(passes=found.appended / found.collected.nullif(0))
    return found.order_by(ibis.desc("spills"), "job", "task", "role")
