"""Space that jobs used, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.space import JobSpace
from iostrata.show.tables import Column, number, table
from iostrata.text import percent, plural, size

MOST_ROWS = 12


def space_table(spaces: Sequence[JobSpace]) -> list[str]:
    """How much each job used, and how much is left; no line where nothing was written."""
    if not spaces:
        return []
    columns = (
        Column("space used by", _owner),
        number("written", size),
        number("of it in HDFS", size, "hdfs"),
        number("most at a time", size, "most"),
        number("of it temporary, at most", size, "temporary"),
        number("left", size),
        Column("of the most", lambda row: percent(row.left / row.most) if row.most else "–", True),
    )
    more = len(spaces) - MOST_ROWS
    last = [f"and {plural(more, 'job')} more (--json lists all)"] * (more > 0)
    unnamed = sum(space.unnamed for space in spaces)
    note = f"; {size(unnamed)} are in files of which only the kind is known" if unnamed else ""
    return [
        *table(spaces[:MOST_ROWS], columns),
        *last,
        f"(bytes of files, one copy of those in HDFS, less those that were deleted{note})",
    ]


def _owner(space: JobSpace) -> str:
    return space.job or space.role or ""
