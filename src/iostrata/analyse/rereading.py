"""Files and blocks that are read several times in one run."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.merged import requests
from iostrata.analyse.tables import CALLS
from iostrata.records import Bytes, Count, Record


class Rereading(Record, frozen=True):
    """Reads of a file or block; `again`: the bytes of places that had been read before."""

    layer: str
    target: str
    block: int
    reads: Count
    places: Count
    bytes: Bytes
    again: Bytes


def rereading(*by: str) -> ir.Table:
    """Per file or block, and `by`, a `Rereading`; most bytes that were read again first.

    It is made of calls of all processes that were recorded individually and whose place is known.
    Of one place the longest read counts as the first.

    DataNodes count with the blocks that they were asked for, not with the packets of these.
    """
    rows = requests()
    files = rows.filter(rows.direction == "read", rows.layer != "datanode")
    blocks = CALLS.filter(CALLS.layer == "datanode", CALLS["op"] == "read_block", CALLS.bytes > 0)
    blocks = blocks.mutate(target=blocks.target.fill_null(""), block=blocks.block.fill_null(0))
    keys = [*by, "layer", "target", "block"]
    names = [*keys, "offset", "bytes"]
    read = ibis.union(files.select(*names), blocks.select(*names))
    place = read.group_by(*keys, "offset").agg(
        reads=read.count(), bytes=read.bytes.sum().cast("int64"), once=read.bytes.max()
    )
    grouped = place.group_by(*keys).agg(
        reads=place.reads.sum().cast("int64"),
        places=place.count(),
        bytes=place.bytes.sum().cast("int64"),
        again=(place.bytes - place.once).sum().cast("int64"),
    )
    return grouped.order_by(ibis.desc("again"), *keys)
