"""How often attempts wrote their records before anybody read them: spills and merges."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.tables import SUMS, counted_once
from iostrata.records import Bytes, Count, Ns, Record

_OPERATIONS = ("record.collect", "record.append", "task.spill", "task.merge")


class AttemptSpills(Record, frozen=True):
    """What an attempt spilled and merged.

    It `collected` the records that a map put out, and `appended` records of so many `bytes` (before
    compression) to spills and merges. `passes` is how often each record was written; null where
    none was collected.
    """

    job: str | None
    task: str | None
    role: str | None
    collected: Count
    appended: Count
    bytes: Bytes
    spills: Count
    merges: Count
    spill_time: Ns
    merge_time: Ns
    passes: float | None


def spills() -> ir.Table:
    """Per attempt that put out, spilled or merged records an `AttemptSpills`."""
    rows = SUMS.filter((SUMS.layer + "." + SUMS["op"]).isin(_OPERATIONS))
    done = account(rows, "job", "task", "role", "op", counted=counted_once)

    def of(op: str, name: str) -> ir.IntegerScalar:
        return done[name].sum(where=done["op"] == op).fill_null(0).cast("int64")

    grouped = done.group_by("job", "task", "role").agg(
        collected=of("collect", "calls"),
        appended=of("append", "calls"),
        bytes=of("append", "bytes"),
        spills=of("spill", "calls"),
        merges=of("merge", "calls"),
        spill_time=of("spill", "time"),
        merge_time=of("merge", "time"),
    )
    grouped = grouped.mutate(passes=grouped.appended / grouped.collected.nullif(0))
    return grouped.order_by(ibis.desc("spills"), "job", "task", "role")
