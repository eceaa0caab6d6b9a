"""How many bytes each layer transferred for the bytes that the layer above it was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SUMS, counted_once, direction, in_hdfs
from iostrata.records import Bytes, Record


@dataclass(frozen=True)
class Transfer:
    """Bytes of one direction in one layer: in DataNodes or elsewhere, of one category."""

    title: str
    layer: str
    direction: str  # of DIRECTIONS
    in_datanode: bool | None = None
    category: str | None = None

    def matches(self, rows: ir.Table) -> ir.BooleanValue:
        """Whether each of `rows`, which have a `direction`, is of this transfer."""
        same = (rows.layer == self.layer) & (rows.direction == self.direction)
        if self.in_datanode is not None:
            same &= (rows.role.fill_null("") == "DataNode") == self.in_datanode
        if self.category is not None:
            of_it = rows.category.fill_null("") == self.category
            same &= in_hdfs(rows) if self.category == "hdfs" else of_it
        return same


class Amplification(Record, frozen=True):
    """Bytes of a step (from 0) between applications and disks; `factor`: over those of step 0, null
    where nothing was counted there.
    """

    direction: str
    step: int
    title: str
    layer: str
    bytes: Bytes
    factor: float | None


# The first step of a direction is what applications asked for; no row is of two steps.
STEPS: dict[str, tuple[Transfer, ...]] = {
    "written to HDFS": (
        Transfer("written by applications", "fs", "written", False, "hdfs"),
        Transfer("sent by HDFS clients", "hdfs", "sent", False),
        Transfer("received by DataNodes, all replicas", "datanode", "received"),
        Transfer("written by DataNodes", "datanode", "written"),
        Transfer("to their disks, blocks", "java", "written", True, "blk"),
        Transfer("to their disks, checksums", "java", "written", True, "blk_meta"),
    ),
    "read from HDFS": (
        Transfer("read by applications", "hdfs", "read", False),
        Transfer("received by HDFS clients", "hdfs", "received", False),
        Transfer("sent by DataNodes", "datanode", "sent"),
        Transfer("from their disks, blocks", "java", "read", True, "blk"),
        Transfer("from their disks, checksums", "java", "read", True, "blk_meta"),
    ),
}


def amplification() -> ir.Table:
    """Per direction and step an `Amplification`. A step without bytes has no row."""
    steps = [
        (name, place, step)
        for name, transfers in STEPS.items()
        for place, step in enumerate(transfers)
    ]
    rows = SUMS.filter(counted_once(SUMS), SUMS.bytes > 0)
    rows = rows.mutate(direction=direction(rows))
    matching = [step.matches(rows) for _, _, step in steps]

    def of_step(values: Iterable[str | int]) -> ir.Value:
        """Of each row the value of its step, in the order of `steps`; null: it is of none."""
        return ibis.cases(*zip(matching, values, strict=True))

    rows = rows.select(
        "layer",
        "bytes",
        direction=of_step(name for name, _, _ in steps),
        step=of_step(place for _, place, _ in steps).cast("int64"),
        title=of_step(step.title for _, _, step in steps),
    )
    rows = rows.filter(rows.direction.notnull())
    moved = rows.group_by("direction", "step", "title", "layer").agg(
        bytes=rows.bytes.sum().cast("int64")
    )
    asked_for = moved.bytes.max(where=moved.step == 0).over(group_by="direction")
    return moved.mutate(factor=moved.bytes / asked_for).order_by("direction", "step")
