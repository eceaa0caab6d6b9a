"""What the programs of a run did at files over time: a load for other storages (S5.5)."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.bins import spread
from iostrata.analyse.exact import quotient
from iostrata.analyse.merged import STREAM, moved
from iostrata.analyse.overlap import stretches
from iostrata.analyse.patterns import FAR
from iostrata.analyse.tables import CALLS, EVENTS, SUMS, bytes_by_direction, moving
from iostrata.records import Bytes, Count, Ns, Record

# What programs and JVMs call for files; above these, the same bytes are counted again.
LAYERS = ("posix", "java")
# What lies on no storage that anybody would choose.
_NO_DATA = ("pipe", "socket", "rpc", "classes", "jars")
_KERNEL = ("/dev/", "/proc/", "/sys/")


class FileLoad(Record, frozen=True):
    """What one thread moved in a bin of the time axis (from 0), by calls that were recorded
    individually; `sequential`: by requests that begin no more than FAR from where the thread's one
    before in the file ended. `synced`: the file was synced in the run. `again`: reads of what the
    run had read before, by a request of the same place and size. `size`: from the first byte
    of a file that the run moved so to the last one, or all bytes where no call says a place; the
    mean of the files, by bytes.
    """

    bin: int
    direction: str
    sequential: bool
    synced: bool
    again: bool
    proc: int | None
    tid: int | None
    requests: Count
    bytes: Bytes
    size: Bytes


class InIo(Record, frozen=True):
    """How long at least one thread was in a call on a file, in a bin."""

    bin: int
    time: Ns


class FileBytes(Record, frozen=True):
    """Bytes of all calls on files, those that are in sums alone as well."""

    read: Bytes
    written: Bytes


def file_loads(start: int, width: int, folder: str = "") -> ir.Table:
    """The `FileLoad` of each bin of `width` ns from `start` (ns since the epoch), of files in
    `folder`, or of all that are no device and no file of the kernel. A request belongs to the bin
    in which it begins; the first of a stream is as those that follow it are, and one that says no
    place goes on where the last one ended.
    """
    rows = _of(moved(), folder)
    whose = [*STREAM, "tid"]
    window = ibis.window(group_by=whose, order_by=[rows.start, rows.offset, rows.bytes])
    gap = rows.offset - (rows.offset + rows.bytes).lag().over(window)
    since = ibis.greatest(rows.start - start, ibis.literal(0, "int64"))
    rows = rows.mutate(
        at=ibis.row_number().over(window),
        sequential=((gap <= FAR) & (gap >= -FAR)) | rows.offset.isnull(),
        bin=quotient(since, width),
    )
    second = rows.sequential.max(where=rows["at"] == 1).over(ibis.window(group_by=whose))
    rows = rows.mutate(sequential=ibis.coalesce(rows.sequential, second, True))
    synced = _of(EVENTS.filter(EVENTS["op"] == "sync"), folder)
    synced = synced.group_by("target").agg(syncs=synced.count())
    rows = rows.left_join(synced, "target")
    whole = ibis.window(group_by=["direction", "target"])
    extent = (rows.offset + rows.bytes).max().over(whole) - rows.offset.min().over(whole)
    rows = rows.mutate(size=ibis.coalesce(extent, rows.bytes.sum().over(whole)).cast("float64"))
    alike = ibis.window(group_by=["target", "direction", "offset", "bytes"], order_by=rows.start)
    rows = rows.mutate(number=ibis.row_number().over(alike))
    again = (rows.direction == "read") & rows.offset.notnull() & (rows.number > 0)
    keys = {"synced": rows.syncs.notnull(), "again": again}
    found = rows.group_by("bin", "direction", "sequential", "proc", "tid", **keys).agg(
        requests=rows.count(),
        bytes=rows.bytes.sum().cast("int64"),
        size=((rows["size"] * rows.bytes).sum() / rows.bytes.sum()).round().cast("int64"),
    )
    return found.select(*FileLoad.__struct_fields__).order_by(*FileLoad.__struct_fields__)


def in_io(start: int, width: int, folder: str = "") -> ir.Table:
    """Likewise the `InIo` of each bin."""
    calls = _of(CALLS.filter(CALLS.dur.notnull()), folder)
    calls = calls.select("start", end=calls.start + calls.dur, of=ibis.literal(0))
    rows = stretches(calls, ["of"])
    zero = ibis.literal(0, "int64")
    rows = rows.mutate(
        begin=ibis.greatest(rows.start - start, zero), until=ibis.greatest(rows.end - start, zero)
    )
    rows = spread(rows.mutate(time=rows.until - rows.begin), width, "time")
    return rows.group_by("bin").agg(time=rows.time.sum().cast("int64")).order_by("bin")


def file_bytes(folder: str = "") -> ir.Table:
    """The `FileBytes` of the run."""
    totals = [
        rows.agg(**{name: bytes_by_direction(rows)[name] for name in ("read", "written")})
        for rows in (_of(moving(table), folder) for table in (CALLS, SUMS))
    ]
    both = ibis.union(*totals)
    return both.agg(read=both.read.sum().cast("int64"), written=both.written.sum().cast("int64"))


def _of(rows: ir.Table, folder: str) -> ir.Table:
    """Rows about files."""
    target = rows.target.fill_null("")
    rows = rows.filter(
        rows.layer.isin(LAYERS), ~rows.category.fill_null("").isin(_NO_DATA), target != ""
    )
    if folder:
        target = rows.target
        return rows.filter((target == folder) | target.startswith(folder.rstrip("/") + "/"))
    return rows.filter(*(~rows.target.startswith(one) for one in _KERNEL))
