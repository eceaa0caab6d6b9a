"""Calls of HDFS servers that no traced client caused."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS
from iostrata.records import Bytes, Count, Record
from iostrata.schema.roles import HDFS_SERVERS


class Orphans(Record, frozen=True, omit_defaults=True):
    """Such calls of a layer, of those that were recorded individually.

    Where only some requests were, numbers are `estimated`, each within its bound for 95 of 100;
    they are None where too few requests were drawn.
    """

    layer: str
    calls: Count | None
    bytes: Bytes | None
    estimated: bool = False
    calls_bound: Count | None = None
    bytes_bound: Bytes | None = None


def orphaned(calls: ir.Table) -> ir.Table:
    """Calls whose way up ends in the server itself: its client was not traced, or the server acted
    on its own.
    """
    return calls.filter(calls.role.isin(HDFS_SERVERS), calls.trace == calls.proc)


def orphans() -> ir.Table:
    """`Orphans` of each layer, of a run that kept all requests."""
    rows = orphaned(CALLS)
    return rows.group_by("layer").agg(
        calls=rows.count(), bytes=rows.bytes.sum().fill_null(0).cast("int64")
    )
