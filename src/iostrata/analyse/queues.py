"""Work that waited in a queue until a thread took it up, and requests that waited for a lock."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.servers import namenode
from iostrata.analyse.tables import EVENTS
from iostrata.records import Count, Ns, Record

_LOCKS = {"read_lock": "lock to read", "write_lock": "lock to write"}
# What is done with the work that had waited.
_QUEUES = {
    "rpc.handle": "queue of calls",
    "rpc.respond": "queue of answers",
    "namenode.log_edit": "queue of edits",
    "namenode.edit_synced": "edit log on disk",
}


class Queue(Record, frozen=True):
    """Work that waited until a thread took it up with the operation `op`."""

    host: str | None
    role: str | None
    layer: str
    op: str
    waits: Count
    time: Ns
    longest: Ns


class NameNodeWait(Record, frozen=True):
    """A lock, a queue or the edit log of a NameNode, for which requests waited."""

    host: str | None
    what: str
    waits: Count
    time: Ns
    longest: Ns | None


def queues() -> ir.Table:
    """Each `Queue`; the longest time together first."""
    rows = EVENTS.filter(EVENTS.kind == "link")
    grouped = rows.group_by("host", "role", "layer", "op").agg(
        waits=rows.count(),
        time=rows.dur.sum().fill_null(0).cast("int64"),
        longest=rows.dur.max().fill_null(0),
    )
    return grouped.order_by(ibis.desc("time"), "host", "role", "layer", "op")


def namenode_waits() -> ir.Table:
    """Each `NameNodeWait`; the longest time together first.

    A request may wait for several of them at the same time: the parts do not add up.
    """
    locks = namenode()
    locks = locks.filter(locks["op"].isin(_LOCKS)).select(
        "host",
        what=locks["op"].cases(*_LOCKS.items()),
        waits="calls",
        time="time",
        longest="max",
    )
    waiting = queues()
    name = waiting.layer + "." + waiting["op"]
    waiting = waiting.filter(waiting.role == "NameNode", name.isin(_QUEUES))
    waiting = waiting.select(
        "host",
        "waits",
        "time",
        "longest",
        what=(waiting.layer + "." + waiting["op"]).cases(*_QUEUES.items()),
    )
    names = ("host", "what", "waits", "time", "longest")
    both = locks.select(*names).union(waiting.select(*names))
    return both.order_by(ibis.desc("time"), "host", "what")
