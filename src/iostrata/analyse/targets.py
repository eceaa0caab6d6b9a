"""Files and blocks: the hottest, and the small ones."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, bytes_by_direction, counted_once, outer
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import BYTES_COLUMN, DIRECTIONS

SMALL = 1 << 20  # bytes
# What differs between two runs of the same job: numbers of jobs, blocks, ports, and times.
_NUMBERS = "[0-9]{4,}"


class Target(Record, frozen=True, omit_defaults=True):
    """A file or block, and the calls on it: those that were recorded individually, and those of
    sums that know it, which are all until a process has many targets (docs/decisions/0025). Other
    calls may have been on it, too: `without_target` says how many there are. Times of sums are
    scaled up where clocks were sampled.

    Where only some requests were recorded, numbers are of these and `estimated`, each within its
    bound for 95 of 100; they are None where too few requests were drawn.
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


class BusiestTarget(Record, frozen=True):
    """The target of a layer that had most of some calls."""

    layer: str
    target: str
    calls: Count


class SmallFiles(Record, frozen=True):
    """Small files of a layer and category, and what was moved from and to them."""

    layer: str
    category: str | None
    files: Count
    bytes: Bytes
    calls: Count
    time: Ns


class RequestedTarget(Record, frozen=True):
    """A file or block (0: none), and all calls of some operations on it."""

    layer: str
    target: str
    block: int
    calls: Count
    bytes: Bytes
    time: Ns


class ReadToEnd(Record, frozen=True):
    """A file that one process read, or a block (0: none): its reads, and how many of them found no
    more bytes; bytes that the process wrote to it.
    """

    proc: int | None
    layer: str
    target: str
    block: int
    calls: Count
    bytes: Bytes
    time: Ns
    ends: Count
    written: Bytes


class WrittenTogether(Record, frozen=True):
    """A file that several processes wrote: how many are known to have (0: only that there were
    several), and their writes.
    """

    layer: str
    target: str
    writers: Count
    calls: Count
    bytes: Bytes
    time: Ns


def targets(roles: tuple[str, ...] = (), *by: str) -> ir.Table:
    """Each `Target`, without estimates; the longest first. Of calls of `roles` where any are given;
    `by`: columns that tell more rows apart, as `job` does.
    """
    rows = _targeted(roles, by)
    moved = {BYTES_COLUMN[name]: value for name, value in bytes_by_direction(rows).items()}
    found = rows.group_by(*by, "layer", "category", "target", "block").agg(
        calls=rows.calls.sum(where=outer(rows)).fill_null(0).cast("int64"),
        time=rows.time.sum(where=outer(rows)).fill_null(0).cast("int64"),
        **moved,
    )
    return found.order_by(ibis.desc("time"), "layer", "target", "block")


def busiest(
    operations: tuple[str, ...], categories: tuple[str, ...], roles: tuple[str, ...] = ()
) -> ir.Table:
    """Per layer the `BusiestTarget` of operations on targets of some categories."""
    rows = _of(operations, categories, roles)
    each = rows.group_by("layer", "target").agg(calls=rows.calls.sum().cast("int64"))
    order = [ibis.desc("calls"), ibis.asc("target")]
    each = each.mutate(place=ibis.row_number().over(group_by="layer", order_by=order))
    return each.filter(each.place == 0).drop("place").order_by("layer")


def requested(
    operations: tuple[str, ...], categories: tuple[str, ...], roles: tuple[str, ...] = ()
) -> ir.Table:
    """Each `RequestedTarget` of operations on targets of some categories; most time first."""
    rows = _of(operations, categories, roles)
    found = rows.mutate(block=rows.block.fill_null(0)).group_by("layer", "target", "block")
    names = ("calls", "bytes", "time")
    sums = found.agg(**{name: rows[name].sum().fill_null(0).cast("int64") for name in names})
    return sums.order_by(ibis.desc("time"), "layer", "target", "block")


def read_to_end(categories: tuple[str, ...] = (), roles: tuple[str, ...] = ()) -> ir.Table:
    """Each `ReadToEnd` of targets of some categories where any are given; most time first."""
    rows = _targeted(roles, ("proc",))
    chosen = [rows.category.isin(categories)] if categories else []
    rows = rows.filter(counted_once(rows), *chosen)
    rows = rows.mutate(block=rows.block.fill_null(0), is_read=rows["op"].isin(DIRECTIONS["read"]))

    def of(value: ir.IntegerValue, where: ir.BooleanValue) -> ir.IntegerScalar:
        return value.sum(where=where).fill_null(0).cast("int64")

    found = rows.group_by("proc", "layer", "target", "block").agg(
        **{name: of(rows[name], rows.is_read) for name in ("calls", "bytes", "time")},
        ends=of(rows.empty, rows.is_read),
        written=of(rows.bytes, rows["op"].isin(DIRECTIONS["written"])),
    )
    found = found.filter(found.calls > 0)
    return found.order_by(ibis.desc("time"), "proc", "layer", "target", "block")


def written_together(categories: tuple[str, ...] = (), roles: tuple[str, ...] = ()) -> ir.Table:
    """Each target `WrittenTogether`, of some categories where any are given; most time first.

    Rows without a process are of several, of which an imported trace says no more.
    """
    rows = _of(DIRECTIONS["written"], categories, roles, "proc")
    found = rows.group_by("layer", "target").agg(
        writers=rows.proc.nunique(),
        of_several=rows.count(where=rows.proc.isnull()),
        calls=rows.calls.sum().cast("int64"),
        bytes=rows.bytes.sum().fill_null(0).cast("int64"),
        time=rows.time.sum().fill_null(0).cast("int64"),
    )
    found = found.filter((found.writers > 1) | (found.of_several > 0)).drop("of_several")
    return found.order_by(ibis.desc("time"), "layer", "target")


def targets_alike(most: int) -> ir.Table:
    """The `most` `TargetKind`s that took longest: numbers of four digits or more are long."""
    found = targets()
    found = found.mutate(target=found.target.re_replace(_NUMBERS, "#"))
    numbers = ("calls", "time", *BYTES_COLUMN.values())
    kinds = found.group_by("layer", "category", "target").agg(
        **{name: found[name].sum().cast("int64") for name in numbers}
    )
    return kinds.order_by(ibis.desc("time"), "layer", "target").limit(most)


def _of(
    operations: tuple[str, ...], categories: tuple[str, ...], roles: tuple[str, ...], *by: str
) -> ir.Table:
    """Rows of `_targeted` of these operations whose bytes count, of some categories if any."""
    rows = _targeted(roles, by)
    of = [rows.category.isin(categories)] if categories else []
    return rows.filter(rows["op"].isin(operations), counted_once(rows), *of)


def _targeted(roles: tuple[str, ...], by: tuple[str, ...]) -> ir.Table:
    """Calls, and sums of calls, that have a target: layer, category, target, block, op, flags,
    bytes, calls, `empty` (of them those without bytes that did not fail), time (ns), and `by`.

    Sums of ours that have one are of calls that were not recorded individually. Those of imported
    runs, which have no points, are of all calls of their layer.
    """
    keys = [*by, "layer", "category", "target", "block", "op", "flags"]

    def of(table: ir.Table) -> ir.Table:
        whose = [table.role.isin(roles)] if roles else []
        return table.filter(table.target.notnull(), table.target != "", *whose)

    sums = of(SUMS)
    summed = sums.group_by(*keys, "point").agg(
        bytes=sums.bytes.sum().cast("int64"),
        calls=sums["count"].sum().cast("int64"),
        empty=(sums["count"] - sums.errors).sum(where=sums.size_class == 0).fill_null(0),
        timed=sums.timed_dur.sum(),
        inside=sums.inside.fill_null(0).sum(),
        weight=sums.weight.fill_null(sums.timed).sum(),
    )
    scale = (summed.calls / summed.weight.nullif(0)).fill_null(0.0)
    time = (summed.inside + summed.timed * scale).floor().cast("int64")
    calls = of(CALLS)
    empty = (calls.bytes.fill_null(0) == 0) & calls.error.isnull()
    calls = calls.mutate(calls=ibis.literal(1, "int64"), empty=empty.cast("int64"), time=calls.dur)
    complete = sums.filter(sums.point.isnull()).select(of_layer=sums.layer).distinct()
    calls = calls.anti_join(complete, calls.layer == complete.of_layer)
    names = [*keys, "bytes", "calls", "empty", "time"]
    return calls.select(*names).union(
        summed.mutate(time=time, empty=summed.empty.cast("int64")).select(*names)
    )


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
