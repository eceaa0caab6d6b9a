"""Files and blocks: the hottest, and the small ones."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, SUMS, bytes_by_direction, outer
from iostrata.schema.directions import DIRECTIONS

SMALL = 1 << 20  # bytes
# What differs between two runs of the same job: numbers of jobs, blocks, ports, and times.
_NUMBERS = "[0-9]{4,}"


def targets(roles: tuple[str, ...] = ()) -> ir.Table:
    """Per file or block: layer, category, target, block, calls, time (ns), read, written, received,
    sent (bytes); the longest first. Of calls kept one by one, of `roles` where any are given; of
    all of them in layers whose sums know their targets, as those of some imported runs do.
    """
    rows = _targeted(roles)
    found = rows.group_by("layer", "category", "target", "block").agg(
        calls=rows.calls.sum(where=outer(rows)).fill_null(0).cast("int64"),
        time=rows.time.sum(where=outer(rows)).fill_null(0).cast("int64"),
        **bytes_by_direction(rows),
    )
    return found.order_by(ibis.desc("time"), "layer", "target", "block")


def targets_alike(most: int) -> ir.Table:
    """The `most` kinds of targets that took longest: as `targets`, without block, those together
    whose names differ in numbers of four digits or more, which are `#`.
    """
    found = targets()
    found = found.mutate(target=found.target.re_replace(_NUMBERS, "#"))
    numbers = ("calls", "time", *DIRECTIONS)
    kinds = found.group_by("layer", "category", "target").agg(
        **{name: found[name].sum().cast("int64") for name in numbers}
    )
    return kinds.order_by(ibis.desc("time"), "layer", "target").limit(most)


def _targeted(roles: tuple[str, ...]) -> ir.Table:
    """Calls, or sums of calls, that have a target: layer, category, target, block, op, bytes,
    flags, calls, time (ns).
    """
    names = ["layer", "category", "target", "block", "op", "bytes", "flags"]

    def of(table: ir.Table, calls: ir.IntegerValue, time: ir.IntegerValue) -> ir.Table:
        whose = [table.role.isin(roles)] if roles else []
        found = table.filter(table.target.notnull(), table.target != "", *whose)
        return found.select(*names, calls=calls, time=time)

    sums = of(SUMS, SUMS["count"], SUMS.timed_dur)
    calls = of(CALLS, ibis.literal(1, "int64"), CALLS.dur)
    known = sums.select(of_layer=sums.layer).distinct()
    return calls.anti_join(known, calls.layer == known.of_layer).union(sums)


def small_files(below: int = SMALL) -> ir.Table:
    """Files of a file system of which fewer bytes were read or written than that: layer, category,
    files, bytes, calls, time (ns). Many of them cost a NameNode and a start each.
    """
    files = targets()
    files = files.filter(files.layer.isin(["fs", "hdfs", "posix"]))
    files = files.filter(~files.category.fill_null("").isin(["pipe", "socket"]))
    size = ibis.greatest(files.read, files.written, files.received, files.sent)
    files = files.mutate(size=size)
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
