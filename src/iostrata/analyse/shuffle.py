"""Who fetched how much from whom: the matrix of a shuffle."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, counted_once

RECEIVED = ("receive", "local_block")


def shuffle() -> ir.Table:
    """Map outputs as reduces received them: job, map (attempt; the block in Spark), peer (its host;
    null in Spark), reduce (attempt), fetches, bytes, time (ns). From calls kept one by one.
    """
    rows = CALLS.filter(CALLS.layer == "task", CALLS["op"].isin(RECEIVED), counted_once(CALLS))
    # what an executor of Spark serves to another one is of no task
    rows = rows.filter(rows.category == "shuffle", rows.task.fill_null("") != "")
    found = rows.group_by("job", "peer", map=rows.target, reduce=rows.task).agg(
        fetches=rows.count(),
        bytes=rows.bytes.sum().cast("int64"),
        time=rows.dur.sum().cast("int64"),
    )
    return found.order_by("job", "map", "reduce")
