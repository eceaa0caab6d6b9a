"""How often attempts wrote their output before anybody read it: spills and merges."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.tables import SUMS, counted_once
from iostrata.records import Bytes, Count, Ns, Record

_OPERATIONS = (
    *("record.collect", "record.append"),
    *("task.spill", "task.spill_record", "task.merge"),
)


class AttemptSpills(Record, frozen=True):
    """What an attempt spilled and merged.

    It wrote so many bytes of records (before compression) when it `spilled` and when it `merged`.
    `passes` is how often each byte was written; null where nothing was spilled. At the level
    `record` it also says how many records a map `collected`, and how many were `appended` to spills
    and merges.
    """

    job: str | None
    task: str | None
    role: str | None
    collected: Count
    appended: Count
    spilled: Bytes
    merged: Bytes
    spills: Count
    merges: Count
    spill_time: Ns
    merge_time: Ns
    passes: float | None


def spills() -> ir.Table:
    """Per attempt that spilled or merged records an `AttemptSpills`."""
    rows = SUMS.filter((SUMS.layer + "." + SUMS["op"]).isin(_OPERATIONS))
    done = account(rows, "job", "task", "role", "op", counted=counted_once)

    def of(op: str, name: str) -> ir.IntegerScalar:
        return done[name].sum(where=done["op"] == op).fill_null(0).cast("int64")

    grouped = done.group_by("job", "task", "role").agg(
        collected=of("collect", "calls"),
        appended=of("append", "calls"),
        spilled=of("spill", "bytes") + of("spill_record", "bytes"),
        merged=of("merge", "bytes"),
        spills=of("spill", "calls"),
        merges=of("merge", "calls"),
        spill_time=of("spill", "time"),
        merge_time=of("merge", "time"),
    )
    written = grouped.spilled + grouped.merged
    grouped = grouped.mutate(passes=written / grouped.spilled.nullif(0))
    return grouped.order_by(ibis.desc("spills"), "job", "task", "role")
