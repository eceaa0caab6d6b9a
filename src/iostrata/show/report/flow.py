"""The way of the bytes: from what was asked for down to the disks, step by step.

The first step of a way is what the applications asked for; every later step says how many bytes it
moved and how many times the first that is. Each step is a filter over rows of kind `sum`.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostrata.schema.directions import DIRECTIONS
from iostrata.show.totals import MOVED, Row
from iostrata.store.opened import OpenedRun


@dataclass(frozen=True)
class Step:
    """Bytes that went one way in one layer: in DataNodes, elsewhere, of one category."""

    title: str
    layer: str
    way: str  # of DIRECTIONS
    role: str = "true"
    category: str | None = None


_DATANODE = "role = 'DataNode'"
_CLIENT = "role IS DISTINCT FROM 'DataNode'"
WAYS: dict[str, tuple[Step, ...]] = {
    "written to HDFS": (
        Step("written by applications", "fs", "written", _CLIENT, "hdfs"),
        Step("sent by HDFS clients", "hdfs", "sent", _CLIENT),
        Step("received by DataNodes, all replicas", "datanode", "received"),
        Step("written by DataNodes", "datanode", "written"),
        Step("to their disks, blocks", "java", "written", _DATANODE, "blk"),
        Step("to their disks, checksums", "java", "written", _DATANODE, "blk_meta"),
    ),
    "read from HDFS": (
        Step("read by applications", "hdfs", "read", _CLIENT),
        Step("received by HDFS clients", "hdfs", "received", _CLIENT),
        Step("sent by DataNodes", "datanode", "sent"),
        Step("from their disks, blocks", "java", "read", _DATANODE, "blk"),
        Step("from their disks, checksums", "java", "read", _DATANODE, "blk_meta"),
    ),
}


def flow(opened: OpenedRun) -> list[Row]:
    """Per way: `way`, `steps` (title, layer, bytes, factor: bytes over those of the first step).

    `bytes` is null for a step that nothing was counted at, by layers that were not traced in such
    processes or calls that do not tell: that is not 0. `factor` is null when it or the first is.
    """
    found = []
    for way, steps in WAYS.items():
        sizes = [_size(opened, step) for step in steps]
        asked = sizes[0]
        rows = [
            {
                "title": step.title,
                "layer": step.layer,
                "bytes": size,
                "factor": size / asked if asked and size is not None else None,
            }
            for step, size in zip(steps, sizes, strict=True)
        ]
        if any(sizes):
            found.append({"way": way, "steps": rows})
    return found


def _size(opened: OpenedRun, step: Step) -> int | None:
    category = "true" if step.category is None else f"category = '{step.category}'"
    found = opened.rows(
        f"SELECT sum(bytes_{step.way} * coalesce({category}, false)::INT)::BIGINT AS size "
        f"FROM (SELECT category, {MOVED} FROM sums WHERE layer = '{step.layer}' AND {step.role} "
        "GROUP BY category)"
    )
    return found[0]["size"] or None


def by_category(opened: OpenedRun) -> list[Row]:
    """Bytes moved per layer, category and role, largest first: layer, category, role, bytes_*."""
    return opened.rows(_BY_CATEGORY)


_ALL = " + ".join(f"bytes_{way}" for way in DIRECTIONS)
_BY_CATEGORY = f"""
    SELECT * FROM (
        SELECT layer, coalesce(category, '') AS category, coalesce(role, '') AS role, {MOVED}
        FROM sums GROUP BY ALL)
    WHERE {_ALL} > 0 ORDER BY {_ALL} DESC, layer, category, role"""
