"""Files and blocks: the hottest, and the small ones."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, outer, uncovered
from iostrata.schema.directions import DIRECTIONS

SMALL = 1 << 20  # bytes


def targets() -> ir.Table:
    """Per file or block: layer, category, target, block, calls, time (ns), read, written, received,
    sent (bytes); the longest first. Of calls kept one by one.
    """
    rows = CALLS.filter(CALLS.target.notnull(), CALLS.target != "")
    moved = {
        way: rows.bytes.sum(where=rows["op"].isin(ops) & uncovered(rows)).fill_null(0).cast("int64")
        for way, ops in DIRECTIONS.items()
    }
    found = rows.group_by("layer", "category", "target", "block").agg(
        calls=outer(rows).cast("int64").sum().cast("int64"),
        time=rows.dur.sum(where=outer(rows)).fill_null(0).cast("int64"),
        **moved,
    )
    return found.order_by(ibis.desc("time"), "layer", "target", "block")


def small_files(below: int = SMALL) -> ir.Table:
    """Files of a file system of which fewer bytes were read or written than that: layer, category,
    files, bytes, calls, time (ns). Many of them cost a NameNode and a start each.
    """
    files = targets()
    files = files.filter(files.layer.isin(["fs", "hdfs"]))
    size = ibis.greatest(files.read, files.written, files.received, files.sent)
    files = files.mutate(size=size)
    files = files.filter(files.size < below, files.size > 0)
    return (
        files.group_by("layer", "category")
        .agg(
            files=files.target.nunique(),
            bytes=files.size.sum().cast("int64"),
            calls=files.calls.sum().cast("int64"),
            time=files.time.sum().cast("int64"),
        )
        .order_by("layer", "category")
    )
