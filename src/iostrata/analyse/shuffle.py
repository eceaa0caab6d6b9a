"""Which reduce fetched how much from which map: the matrix of a shuffle."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, counted_once
from iostrata.records import Bytes, Count, Ns, Record

RECEIVED = ("receive", "local_block")


class MapOutput(Record, frozen=True):
    """The output of an attempt of a map (in Spark: a block) as a reduce received it from `peer`,
    the host and port that served it (null in Spark).
    """

    job: str | None
    peer: str | None
    map: str | None
    reduce: str
    fetches: Count
    bytes: Bytes
    time: Ns


def shuffle() -> ir.Table:
    """Per map and reduce a `MapOutput`, of calls that were recorded individually."""
    rows = CALLS.filter(CALLS.layer == "task", CALLS["op"].isin(RECEIVED), counted_once(CALLS))
    # what an executor of Spark serves to another one is of no task
    rows = rows.filter(rows.category == "shuffle", rows.task.fill_null("") != "")
    grouped = rows.group_by("job", "peer", map=rows.target, reduce=rows.task).agg(
        fetches=rows.count(),
        bytes=rows.bytes.sum().cast("int64"),
        time=rows.dur.sum().cast("int64"),
    )
    return grouped.order_by("job", "map", "reduce")
