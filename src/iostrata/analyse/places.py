"""Where in their file the requests of streams began, over time: a picture of access patterns."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.exact import quotient
from iostrata.analyse.merged import STREAM, Stream, requests
from iostrata.records import Bytes, EpochNs


class RequestPlace(Stream, frozen=True):
    """A request of a stream: when it began, and at which byte."""

    start: EpochNs
    offset: Bytes


def places(each: int = 200) -> ir.Table:
    """`RequestPlace`s of every stream, at most `each` of one: every second, third, … of more"""
    rows = requests()
    window = ibis.window(group_by=STREAM, order_by=[rows.start, rows.offset, rows.bytes])
    whole = ibis.window(group_by=STREAM)
    rows = rows.select(
        *STREAM,
        "start",
        "offset",
        number=ibis.row_number().over(window),
        step=quotient(rows.count().over(whole) + each - 1, each),
    )
    chosen = rows.filter(rows.number % rows.step == 0).drop("number", "step")
    return chosen.order_by(*STREAM, "start", "offset")
