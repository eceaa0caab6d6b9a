"""What ranks of a parallel program did with files, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.ranks import RankFiles
from iostrata.show.tables import Column, named, number, table
from iostrata.text import count, percent, plural, printable, seconds, size

MOST_ROWS = 10


def rank_table(ranks: Sequence[RankFiles]) -> list[str]:
    """The ranks that spent most time in calls on files; no line where there are none."""
    if not ranks:
        return []
    slowest = sorted(ranks, key=lambda rank: -rank.time)
    columns = (
        named("ranks, in files", "task"),
        named("host"),
        number("calls", count),
        number("read", size, "bytes_read"),
        number("written", size, "bytes_written"),
        number("reading", seconds),
        number("writing", seconds),
        number("opening and asking", seconds, "asking"),
        Column("below 4 KiB", lambda rank: _part(rank.small, rank.moves), number=True),
        Column("off 4 KiB", lambda rank: _part(rank.unaligned, rank.placed), number=True),
    )
    more = len(ranks) - MOST_ROWS
    last = [f"and {plural(more, 'rank')} more (--json lists all)"] * (more > 0)
    return [*table(slowest[:MOST_ROWS], columns), *last, _balance(ranks)]


def _part(some: int, whole: int) -> str:
    return percent(some / whole) if whole else ""


def _balance(ranks: Sequence[RankFiles]) -> str:
    """The slowest of them beside their mean: what the others may wait for."""
    mean = sum(rank.time for rank in ranks) // len(ranks)
    slowest = max(ranks, key=lambda rank: rank.time)
    times = f", {slowest.time / max(1, mean):.1f} times the mean of {plural(len(ranks), 'rank')}"
    return (
        f"({printable(slowest.task)} spent {seconds(slowest.time)} in calls on files{times}; "
        "layer posix; below 4 KiB: of calls that read or write; off 4 KiB: of those that were "
        "recorded individually and whose place is known, which do not begin at a multiple of it)"
    )
