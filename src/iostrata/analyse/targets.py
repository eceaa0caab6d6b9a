"""Files and blocks: the hottest, and the small ones."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, bytes_by_direction, outer
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN

SMALL = 1 << 20  # bytes
# What differs between two runs of the same job: numbers of jobs, blocks, ports, and times.
_NUMBERS = "[0-9]{4,}"


class Target(Record, frozen=True, omit_defaults=True):
    """A file or block, and the calls on it that were recorded individually.

    Where only some requests were, numbers are `estimated`, each within its bound for 95 of 100;
    they are None where too few requests were drawn.
    """

    layer: str
    category: str | None
    target: str
    block: int | None
    calls: Count | None
    time: Ns | None
    bytes_read: Bytes | None
    bytes_written: Bytes | None
    bytes_received: Bytes | None
    bytes_sent: Bytes | None
    estimated: bool = False
    calls_bound: Count | None = None
    time_bound: Ns | None = None
    bytes_read_bound: Bytes | None = None
    bytes_written_bound: Bytes | None = None
    bytes_received_bound: Bytes | None = None
    bytes_sent_bound: Bytes | None = None


class TargetKind(Record, frozen=True):
    """Targets whose names differ in long numbers only, which are `#`."""

    layer: str
    category: str | None
    target: str
    calls: Count
    time: Ns
    bytes_read: Bytes
    bytes_written: Bytes
    bytes_received: Bytes
    bytes_sent: Bytes


class SmallFiles(Record, frozen=True):
    """Small files of a layer and category, and what was moved from and to them."""

    layer: str
    category: str | None
    files: Count
    bytes: Bytes
    calls: Count
    time: Ns


def targets(roles: tuple[str, ...] = (), *by: str) -> ir.Table:
    """Each `Target`, without estimates; the longest first. Of calls of `roles` where any are given;
    of all calls in layers whose sums know their targets, as those of some imported runs do. `by`:
    columns that tell more rows apart, as `job` does.
    """
    rows = _targeted(roles, by)
    moved = {BYTES_COLUMN[name]: value for name, value in bytes_by_direction(rows).items()}
    found = rows.group_by(*by, "layer", "category", "target", "block").agg(
        calls=rows.calls.sum(where=outer(rows)).fill_null(0).cast("int64"),
        time=rows.time.sum(where=outer(rows)).fill_null(0).cast("int64"),
        **moved,
    )
    return found.order_by(ibis.desc("time"), "layer", "target", "block")


def targets_alike(most: int) -> ir.Table:
    """The `most` `TargetKind`s that took longest: numbers of four digits or more are long."""
    found = targets()
    found = found.mutate(target=found.target.re_replace(_NUMBERS, "#"))
    numbers = ("calls", "time", *BYTES_COLUMN.values())
    kinds = found.group_by("layer", "category", "target").agg(
        **{name: found[name].sum().cast("int64") for name in numbers}
    )
    return kinds.order_by(ibis.desc("time"), "layer", "target").limit(most)


def _targeted(roles: tuple[str, ...], by: tuple[str, ...]) -> ir.Table:
    """Calls, or sums of calls, that have a target: layer, category, target, block, op, bytes,
    flags, calls, time (ns), and `by`.
    """
    names = [*by, "layer", "category", "target", "block", "op", "bytes", "flags"]

    def of(table: ir.Table, calls: ir.IntegerValue, time: ir.IntegerValue) -> ir.Table:
        whose = [table.role.isin(roles)] if roles else []
        found = table.filter(table.target.notnull(), table.target != "", *whose)
        return found.select(*names, calls=calls, time=time)

    sums = of(SUMS, SUMS["count"], SUMS.timed_dur)
    calls = of(CALLS, ibis.literal(1, "int64"), CALLS.dur)
    known = sums.select(of_layer=sums.layer).distinct()
    return calls.anti_join(known, calls.layer == known.of_layer).union(sums)


def small_files(below: int = SMALL) -> ir.Table:
    """`SmallFiles` of file systems: fewer bytes were read or written than that. Many of them cost a
    NameNode and a start each.
    """
    files = targets()
    files = files.filter(files.layer.isin(["fs", "hdfs", "posix"]))
    files = files.filter(~files.category.fill_null("").isin(["pipe", "socket"]))
    files = files.mutate(size=ibis.greatest(*(files[name] for name in BYTES_COLUMN.values())))
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
