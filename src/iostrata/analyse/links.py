"""How fast bytes came from one host to another: map outputs to reduces, blocks to tasks."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.attempts import attempts
from iostrata.analyse.tables import CALLS, SUMS, counted_once
from iostrata.records import Bytes, Ns, Record


class Link(Record, frozen=True):
    """Bytes that went from one host to another, and the time that threads took for them."""

    sender: str | None
    receiver: str | None
    bytes: Bytes
    time: Ns


def links() -> ir.Table:
    """Per sender and receiver a `Link`.

    Map outputs are those that reduces received, from calls that were recorded individually; packets
    are those that DataNodes sent to tasks, from sums. Bytes that stay on their host are left out.
    """
    rows = _map_outputs().union(_packets())
    rows = rows.filter(rows.sender != rows.receiver, rows.bytes > 0)
    grouped = rows.group_by("sender", "receiver").agg(
        bytes=rows.bytes.sum().cast("int64"), time=rows.time.sum().cast("int64")
    )
    return grouped.order_by("sender", "receiver")


def _map_outputs() -> ir.Table:
    rows = CALLS.filter(CALLS.layer == "task", CALLS["op"] == "receive", counted_once(CALLS))
    rows = rows.filter(rows.category == "shuffle", rows.peer.notnull())
    return rows.select(
        sender=rows.peer.substr(0, rows.peer.find(":")),  # a host name and a port
        receiver=rows.host,
        bytes=rows.bytes,
        time=rows.dur,
    )


def _packets() -> ir.Table:
    rows = SUMS.filter(SUMS.layer == "datanode", SUMS["op"] == "send_packet", SUMS.task.notnull())
    sent = account(rows, "task", "host", counted=counted_once)
    ran = attempts().select("task", receiver="host")
    joined = sent.join(ran, "task", how="inner")
    return joined.select(
        sender=joined.host, receiver=joined.receiver, bytes=joined.bytes, time=joined.time
    )
