"""Where the bytes that tasks read from HDFS came from: a DataNode on their host, or elsewhere."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.tables import SUMS, uncovered


def locality() -> ir.Table:
    """Per attempt: job, role, task, host, local, remote (bytes that DataNodes sent for it).

    What a client reads without a DataNode (short-circuit) is in neither.
    """
    sent = SUMS.filter(SUMS.layer == "datanode", SUMS["op"] == "send_packet", uncovered(SUMS))
    sent = sent.filter(sent.task.notnull(), sent.task != "")
    sent = sent.group_by("task", source=sent.host).agg(bytes=sent.bytes.sum().cast("int64"))
    ran = attempts().select("job", "role", "task", "host")
    found = sent.join(ran, "task", how="inner")
    near = found.source == found.host
    return (
        found.group_by("job", "role", "task", "host")
        .agg(
            local=found.bytes.sum(where=near).fill_null(0).cast("int64"),
            remote=found.bytes.sum(where=~near).fill_null(0).cast("int64"),
        )
        .order_by("job", "task")
    )
