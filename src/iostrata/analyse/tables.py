"""The tables of a run as Ibis sees them; columns as in `schema.columns`, times in integer ns."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.schema import columns
from iostrata.schema.directions import DIRECTION_OF, DIRECTIONS
from iostrata.schema.events import FLAG
from iostrata.schema.types import TYPES


def _table(name: str, types: dict[str, str]) -> ir.Table:
    return ibis.table({column: TYPES[kind].arrow for column, kind in types.items()}, name=name)


EVENTS = _table("events", columns.EVENTS)
SUMS = _table("sums", columns.EVENTS)
CALLS = _table("calls", columns.EVENTS)
PAUSES = _table("pauses", columns.EVENTS)
PROCESSES = _table("processes", columns.PROCESSES)
CHILDREN = _table("children", columns.CHILDREN)
THREADS = _table("threads", columns.THREADS)
USAGE = _table("usage", columns.USAGE)
SYSTEM = _table("system", columns.SYSTEM)
DEVICES = _table("devices", columns.DEVICES)


def program_cpu(processes: ir.Table) -> ir.IntegerValue:
    """ns of CPU of processes without that of their JVM's own threads; null where that is not
    known. The kernel counts the former in ticks of 10 ms.
    """
    return ibis.greatest(processes.cpu - processes.cpu_jvm, 0)


def outer(table: ir.Table) -> ir.BooleanValue:
    """Not within a call of the same layer: calls and times of a layer count these."""
    return (table.flags & FLAG["inner"]) == 0


def in_hdfs(table: ir.Table) -> ir.BooleanValue:
    """Whether `fs.write` goes to a file in HDFS; HBase's are known by what they are. Local files
    count where they leave their buffer, in `fs.raw_write`.
    """
    return table.category.fill_null("").isin(["hdfs", "wal", "hfile"])


def counted_once(table: ir.Table) -> ir.BooleanValue:
    """No enclosing call of the same layer and operation counts the same bytes."""
    return (table.flags & FLAG["double_counted"]) == 0


def moving(table: ir.Table) -> ir.Table:
    """Rows whose bytes count as moved."""
    return table.filter(table["op"].isin(tuple(DIRECTION_OF)), counted_once(table))


def bytes_by_direction(table: ir.Table) -> dict[str, ir.IntegerScalar]:
    """The bytes that moved in each direction, to be aggregated: read, written, received, sent."""
    return {
        direction: table.bytes.sum(where=table["op"].isin(ops) & counted_once(table))
        .fill_null(0)
        .cast("int64")
        for direction, ops in DIRECTIONS.items()
    }


def direction(table: ir.Table) -> ir.StringValue:
    """`read`, `written`, `received` or `sent`; null for all other operations."""
    return ibis.cases(*((table["op"].isin(ops), name) for name, ops in DIRECTIONS.items()))
