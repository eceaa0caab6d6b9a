"""Where the bytes that tasks read from HDFS came from: their host, its rack, or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import ibis
from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.tables import SUMS, counted_once
from iostrata.records import Bytes, Record


class Locality(Record, frozen=True):
    """Bytes that DataNodes sent for an attempt: from its host, from another host of its rack, and
    from elsewhere.
    """

    job: str | None
    role: str | None
    task: str
    host: str | None
    local: Bytes
    rack_local: Bytes
    remote: Bytes


class AttemptSource(Record, frozen=True):
    """Bytes that DataNodes of the host `source` sent for an attempt, which ran on `host`."""

    job: str | None
    role: str | None
    task: str
    host: str | None
    source: str | None
    bytes: Bytes


def sources() -> ir.Table:
    """Per attempt and host that sent for it a `AttemptSource`.

    Bytes that a client reads without a DataNode (short-circuit) are in none.
    """
    sent = SUMS.filter(SUMS.layer == "datanode", SUMS["op"] == "send_packet", counted_once(SUMS))
    sent = sent.filter(sent.task.notnull(), sent.task != "")
    sent = sent.group_by("task", source=sent.host).agg(bytes=sent.bytes.sum().cast("int64"))
    ran = attempts().select("job", "role", "task", "host")
    found = sent.join(ran, "task", how="inner")
    return found.select(*AttemptSource.__struct_fields__).order_by("job", "task", "source")


def locality(racks: Mapping[str, str] | None = None) -> ir.Table:
    """Per attempt a `Locality`. `racks` names the racks of hosts, as `Run.racks`; a host without
    one shares it with nobody. Adds up `sources`.
    """
    joined = sources()
    near = joined.source == joined.host
    beside = _rack(joined.source, racks or {}) == _rack(joined.host, racks or {})
    beside = ~near & beside.fill_null(False)
    return (
        joined.group_by("job", "role", "task", "host")
        .agg(
            local=joined.bytes.sum(where=near).fill_null(0).cast("int64"),
            rack_local=joined.bytes.sum(where=beside).fill_null(0).cast("int64"),
            remote=joined.bytes.sum(where=~near & ~beside).fill_null(0).cast("int64"),
        )
        .order_by("job", "task")
    )


def _rack(host: ir.StringValue, racks: Mapping[str, str]) -> ir.StringValue:
    known = ((host == name, rack) for name, rack in sorted(racks.items()))
    return ibis.cases((host.isnull(), ibis.null("string")), *known)
