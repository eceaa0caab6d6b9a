"""What ranks of a parallel program did with files, each beside the others, as Darshan has it."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.over_time import SECOND, over_time
from iostrata.analyse.tables import CALLS, SUMS, counted_once, moving
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.schema.directions import DIRECTIONS

ROLE = "rank"
# Ranks talk to each other by these.
NO_FILES = ("pipe", "socket")
_SMALL = 12  # last size class below 4 KiB: 1 + floor(log2(bytes))
_BOUNDARY = 4096  # bytes, of a page
_BETWEEN = "\t"  # is in no name: they stand in lists with tabs between


class RankFiles(Record, frozen=True):
    """What a rank did with files, in the layer `posix`.

    Times are those of its threads in calls: that read, that write, and in all others (`asking`: to
    open, to stat, to close, to sync …). `moves` are the calls that read or write, `small` those of
    them that moved less than 4 KiB. `placed` are those that were recorded individually and whose
    place is known, `unaligned` those of these that do not begin at a multiple of 4 KiB.
    """

    job: str | None
    task: str
    host: str | None
    calls: Count
    moves: Count
    small: Count
    placed: Count
    unaligned: Count
    bytes_read: Bytes
    bytes_written: Bytes
    reading: Ns
    writing: Ns
    asking: Ns

    @property
    def time(self) -> int:
        """ns in calls."""
        return self.reading + self.writing + self.asking


class RankBin(Record, frozen=True):
    """Bytes that a rank read from files and wrote to them in a bin of the time axis."""

    job: str
    task: str
    bin: int
    moved: Bytes


def rank_files() -> ir.Table:
    """The `RankFiles` of a run, in the order of their numbers."""
    rows = _on_files()
    read, written = rows["op"].isin(DIRECTIONS["read"]), rows["op"].isin(DIRECTIONS["written"])
    rows = rows.mutate(
        what=ibis.cases((read, "reading"), (written, "writing"), else_="asking"),
        is_small=(read | written) & (rows.size_class.fill_null(0) <= _SMALL),
    )
    kinds = account(rows, "job", "task", "host", "what", "is_small", counted=counted_once)
    moves = kinds.what != "asking"

    def total(value: ir.IntegerValue, where: ir.BooleanValue | None = None) -> ir.IntegerValue:
        return value.sum(where=where).fill_null(0).cast("int64")

    found = kinds.group_by("job", "task", "host").agg(
        calls=total(kinds.calls),
        moves=total(kinds.calls, moves),
        small=total(kinds.calls, moves & kinds.is_small),
        bytes_read=total(kinds.read),
        bytes_written=total(kinds.written),
        **{
            what: total(kinds.time, kinds.what == what) for what in ("reading", "writing", "asking")
        },
    )
    found = found.mutate(whose=_whose(found)).left_join(_places(), "whose")
    found = found.drop("whose", "whose_right").mutate(
        placed=found.placed.fill_null(0), unaligned=found.unaligned.fill_null(0)
    )
    number = found.task.re_extract(r"(\d+)$", 1).try_cast("int64")
    return found.order_by("job", number, "task", "host")


def _places() -> ir.Table:
    """Of calls that move data: how many begin at a known place, and off a boundary, per `whose`."""
    rows = _on_files(moving(CALLS))
    rows = rows.filter(rows.offset >= 0).mutate(whose=_whose(rows))
    return rows.group_by("whose").agg(
        placed=rows.count().cast("int64"),
        unaligned=(rows.offset % _BOUNDARY != 0).sum().cast("int64"),
    )


def _whose(rows: ir.Table) -> ir.StringValue:
    """Job, task and host in one: null is no job, too."""
    return rows.job.fill_null("") + _BETWEEN + rows.task + _BETWEEN + rows.host.fill_null("")


def rank_bins(start: int, width: int, within: int = SECOND) -> ir.Table:
    """Each `RankBin` of an axis, as `over_time` spreads sums; those without bytes have no row."""
    rows = _on_files()
    # over_time tells layers apart: here they are ranks
    rows = rows.mutate(layer=rows.job.fill_null("") + _BETWEEN + rows.task)
    bins = over_time(start, width, within, rows)
    whose = bins.layer.split(_BETWEEN)
    found = bins.select(job=whose[0], task=whose[1], bin="bin", moved=bins.read + bins.written)
    return found.filter(found.moved > 0).order_by("job", "task", "bin")


def _on_files(rows: ir.Table = SUMS) -> ir.Table:
    return rows.filter(
        rows.role == ROLE,
        rows.layer == "posix",
        rows.task.notnull(),
        rows.category.fill_null("").notin(NO_FILES),
    )
