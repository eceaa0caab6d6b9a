"""How many bytes each layer moved for those that the layer above it was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, counted_once, direction


@dataclass(frozen=True)
class Step:
    """Bytes that went one way in one layer: in DataNodes or elsewhere, of one category."""

    title: str
    layer: str
    way: str  # of DIRECTIONS
    in_datanode: bool | None = None
    category: str | None = None

    def of(self, rows: ir.Table) -> ir.BooleanValue:
        """Those of `rows`, which have `way`, that are of this step."""
        found = (rows.layer == self.layer) & (rows.way == self.way)
        if self.in_datanode is not None:
            found &= (rows.role.fill_null("") == "DataNode") == self.in_datanode
        if self.category is not None:
            found &= rows.category.fill_null("") == self.category
        return found


# The first step of a way is what applications asked for; no row is of two steps.
WAYS: dict[str, tuple[Step, ...]] = {
    "written to HDFS": (
        Step("written by applications", "fs", "written", False, "hdfs"),
        Step("sent by HDFS clients", "hdfs", "sent", False),
        Step("received by DataNodes, all replicas", "datanode", "received"),
        Step("written by DataNodes", "datanode", "written"),
        Step("to their disks, blocks", "java", "written", True, "blk"),
        Step("to their disks, checksums", "java", "written", True, "blk_meta"),
    ),
    "read from HDFS": (
        Step("read by applications", "hdfs", "read", False),
        Step("received by HDFS clients", "hdfs", "received", False),
        Step("sent by DataNodes", "datanode", "sent"),
        Step("from their disks, blocks", "java", "read", True, "blk"),
        Step("from their disks, checksums", "java", "read", True, "blk_meta"),
    ),
}


def amplification() -> ir.Table:
    """Per way and step: way, step (its place from 0), title, layer, bytes, factor (bytes over those
    of step 0; null where nothing was counted there). A step without bytes has no row.
    """
    steps = [(way, place, step) for way in WAYS for place, step in enumerate(WAYS[way])]
    rows = SUMS.filter(counted_once(SUMS), SUMS.bytes > 0)
    rows = rows.mutate(way=direction(rows))

    def of(values: Iterable[str | int]) -> ir.Value:
        """Of each row the value of its step, in the order of `steps`; null: it is of none."""
        which = [step.of(rows) for _, _, step in steps]
        return ibis.cases(*zip(which, values, strict=True))

    rows = rows.select(
        "layer",
        "bytes",
        of=of(way for way, _, _ in steps),
        step=of(place for _, place, _ in steps),
        title=of(step.title for _, _, step in steps),
    )
    rows = rows.filter(rows.of.notnull())
    found = rows.group_by("title", "layer", way=rows.of, step=rows.step.cast("int64")).agg(
        bytes=rows.bytes.sum().cast("int64")
    )
    asked = found.bytes.max(where=found.step == 0).over(group_by="way")
    found = found.mutate(factor=found.bytes / asked)
    return found.select("way", "step", "title", "layer", "bytes", "factor").order_by("way", "step")
