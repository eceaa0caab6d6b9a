"""Signatures of access patterns per stream of requests, in the terms of IOSIG.

A stream is what one process reads from, or writes to, one file or block. Its strides (from the
place of a request to that of the next) are counted; the pattern is

    contiguous      each request begins where the one before ends
    fixed strided   one stride
    2-d strided     a second one at regular intervals
    3-d strided     and a third
    random          else

where "each" is 19 of 20, and a stride that comes less than three times is none.
(IOSIG: Byna et al., Parallel I/O prefetching using MPI file caching and I/O signatures, SC 2008.)
"""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.merged import STREAM, Stream, requests
from iostrata.analyse.only_summed import OnlySummed, only_summed
from iostrata.records import Bytes, Count, Record
from iostrata.store.opened import OpenedRun

LEAST = 8  # requests; fewer say little
_MOST = 20  # of that many, one may be another


class Pattern(Stream, frozen=True):
    """The signature of a stream: `offset` of its first request, `size` of most, its strides by how
    often they come (null: none). `sequential`: requests that begin where the one before ended;
    `again`: those at a place that was met before. `task`: the only one that made requests.
    """

    role: str | None
    pid: int | None
    task: str | None
    requests: Count
    bytes: Bytes
    sequential: Count
    offset: Bytes
    size: Bytes
    stride: Bytes | None
    stride_2: Bytes | None
    stride_3: Bytes | None
    again: Count
    pattern: str


class LargestStream(Stream, frozen=True):
    """A stream that moved much, and how many streams there are."""

    requests: Count
    bytes: Bytes
    streams: Count


class AccessPatterns(Record, frozen=True):
    """The streams of a run that moved most, and how many more there are.

    Of calls that were recorded individually: `only_summed` has the others of the same layers, and
    those without a place. `incomplete`: what of the run is in no readable file.
    """

    streams: list[Pattern]
    more: Count
    only_summed: list[OnlySummed]
    incomplete: list[str]


def access_patterns(opened: OpenedRun, most: int, least: int = LEAST) -> AccessPatterns:
    """The `most` streams of at least `least` requests, those that moved most bytes first."""
    engine = DuckDb(opened)
    largest = engine.records(largest_streams(most, least), LargestStream)
    shown = engine.records(patterns(least, most), Pattern) if largest else []
    layers = tuple(sorted({stream.layer for stream in shown}))
    rest = engine.records(only_summed(layers=layers), OnlySummed)
    more = largest[0].streams - len(shown) if largest else 0
    return AccessPatterns(shown, more, rest, opened.incomplete)


def largest_streams(most: int, least: int = LEAST) -> ir.Table:
    """The `most` `LargestStream`s of at least `least` requests."""
    rows = requests()
    streams = rows.group_by(*STREAM).agg(
        requests=rows.count(), bytes=rows.bytes.sum().cast("int64")
    )
    streams = streams.filter(streams.requests >= least)
    streams = streams.mutate(streams=streams.count().over(ibis.window()))
    return streams.order_by(ibis.desc("bytes"), *STREAM).limit(most)


def patterns(least: int = LEAST, most: int | None = None) -> ir.Table:
    """Per stream of at least `least` requests a `Pattern`; only of the `most` that moved most bytes
    where that is given, which takes a fraction of the time.
    """
    asked = requests()
    if most is not None:
        asked = asked.semi_join(largest_streams(most, least), list(STREAM))
    rows = _strides(asked)
    streams = _ranked(rows).join(_breaks(rows), list(STREAM), how="left")
    streams = streams.join(_facts(asked), list(STREAM), how="inner")
    streams = streams.filter(streams.requests >= least)
    return streams.select(
        *STREAM,
        "role",
        "pid",
        "task",
        "requests",
        "bytes",
        "sequential",
        "offset",
        "size",
        "stride",
        "stride_2",
        "stride_3",
        "again",
        pattern=_name(streams),
    ).order_by(ibis.desc("bytes"), *STREAM)


def _name(streams: ir.Table) -> ir.StringValue:
    def all_of(count: ir.IntegerValue, total: ir.IntegerValue) -> ir.BooleanValue:
        return count * _MOST >= total * (_MOST - 1)

    regular = all_of(streams.regular, streams.breaks)
    two = streams.times + streams.times_2
    return ibis.cases(
        (all_of(streams.sequential, streams.strides), "contiguous"),
        (
            (streams.times_3 >= 3) & all_of(two + streams.times_3, streams.strides) & regular,
            "3-d strided",
        ),
        ((streams.times_2 >= 3) & all_of(two, streams.strides) & regular, "2-d strided"),
        (all_of(streams.times, streams.strides), "fixed strided"),
        else_="random",
    )


def _strides(rows: ir.Table) -> ir.Table:
    """Requests but the first of each stream: STREAM, number, stride, gap."""
    window = ibis.window(group_by=STREAM, order_by=[rows.start, rows.offset, rows.bytes])
    rows = rows.select(
        *STREAM,
        number=ibis.row_number().over(window),
        stride=rows.offset - rows.offset.lag().over(window),
        gap=rows.offset - (rows.offset + rows.bytes).lag().over(window),
    )
    return rows.filter(rows.stride.notnull())


def _ranked(rows: ir.Table) -> ir.Table:
    """Per stream: strides, sequential, and the three strides that come most often."""
    counted = rows.group_by(*STREAM, "stride").agg(
        times=rows.count(), sequential=(rows.gap == 0).cast("int64").sum().cast("int64")
    )
    window = ibis.window(group_by=STREAM, order_by=[ibis.desc(counted.times), counted.stride])
    counted = counted.mutate(place=ibis.row_number().over(window))

    def times(place: int) -> ir.IntegerScalar:
        return counted.times.sum(where=counted.place == place).fill_null(0).cast("int64")

    def stride(place: int) -> ir.IntegerScalar:
        return counted.stride.max(where=counted.place == place)

    return counted.group_by(*STREAM).agg(
        strides=counted.times.sum().cast("int64"),
        sequential=counted.sequential.sum().cast("int64"),
        times=times(0),
        times_2=times(1),
        times_3=times(2),
        stride=stride(0),
        stride_2=stride(1),
        stride_3=stride(2),
    )


def _breaks(rows: ir.Table) -> ir.Table:
    """Per stream: breaks (strides that are not the first one) but the first, and regular: of them,
    those as far from the one before as most are.
    """
    first = _ranked(rows).select(*STREAM, "stride").rename(usual="stride")
    broken = rows.join(first, list(STREAM), how="inner")
    broken = broken.filter(broken.stride != broken.usual)
    window = ibis.window(group_by=STREAM, order_by=broken.number)
    broken = broken.select(*STREAM, apart=broken.number - broken.number.lag().over(window))
    broken = broken.filter(broken.apart.notnull())
    counted = broken.group_by(*STREAM, "apart").agg(times=broken.count())
    return counted.group_by(*STREAM).agg(
        breaks=counted.times.sum().cast("int64"), regular=counted.times.max().cast("int64")
    )


def _facts(rows: ir.Table) -> ir.Table:
    """Per stream: role, pid, task, requests, bytes, offset of the first, size of most, again."""
    sized = rows.group_by(*STREAM, "bytes").agg(times=rows.count())
    window = ibis.window(group_by=STREAM, order_by=[ibis.desc(sized.times), sized.bytes])
    sized = sized.mutate(place=ibis.row_number().over(window))
    usual = sized.filter(sized.place == 0).select(*STREAM, size=sized.bytes)
    window = ibis.window(group_by=STREAM, order_by=[rows.start, rows.offset, rows.bytes])
    placed = rows.mutate(place=ibis.row_number().over(window))
    first = placed.group_by(*STREAM).agg(
        role=placed.role.max(),
        pid=placed.pid.max(),
        task=ibis.ifelse(placed.task.nunique() == 1, placed.task.max(), None),
        requests=placed.count(),
        bytes=placed.bytes.sum().cast("int64"),
        offset=placed.offset.max(where=placed.place == 0),
        again=placed.count() - placed.offset.nunique(),
    )
    return first.join(usual, list(STREAM), how="inner")


class FarReads(Record, frozen=True):
    """Reads of a file or block by all processes that were recorded individually: `far` begin more
    than FAR from where the one before of their thread ended, `back` of them before it. `direct` and
    the rest are of the reads that begin so soon after it that none can be missing in between.
    `reach` is from the first byte to the last that were read.
    """

    layer: str
    target: str
    block: int
    reads: Count
    reach: Bytes
    far: Count
    back: Count
    direct: Count
    direct_far: Count
    direct_back: Count


FAR = 128 << 10  # bytes: what lies nearer comes with the readahead of Linux


def far_reads(roles: tuple[str, ...] = (), categories: tuple[str, ...] = ()) -> ir.Table:
    """`FarReads` of `roles` and of targets of some categories where any are given.

    Each thread counts for itself, since each may go through the file in order.
    """
    rows = requests()
    whose = [rows.role.isin(roles)] if roles else []
    whose += [rows.category.isin(categories)] if categories else []
    rows = rows.filter(rows.direction == "read", *whose)
    order = [rows.start, rows.offset, rows.bytes]
    window = ibis.window(group_by=[*STREAM, "tid"], order_by=order)
    rows = rows.mutate(
        gap=(rows.offset - (rows.offset + rows.bytes).lag().over(window)).fill_null(0),
        pause=rows.start - (rows.start + rows.dur).lag().over(window),
        quickest=rows.dur.min().over(ibis.window(group_by=STREAM)),
    )
    far, back = (rows.gap > FAR) | (rows.gap < -FAR), rows.gap < -FAR
    direct = (rows.pause < rows.quickest).fill_null(False)
    found = rows.group_by("layer", "target", "block").agg(
        reads=rows.count(),
        reach=((rows.offset + rows.bytes).max() - rows.offset.min()).cast("int64"),
        far=rows.count(where=far),
        back=rows.count(where=back),
        direct=rows.count(where=direct),
        direct_far=rows.count(where=direct & far),
        direct_back=rows.count(where=direct & back),
    )
    return found.order_by("layer", "target", "block")
