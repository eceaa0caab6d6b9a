"""Programs that one command ran at the same time, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.parts import SHARED, PartFiles
from iostrata.show.tables import Column, number, table
from iostrata.text import count, printable, seconds, size


def part_table(parts: Sequence[PartFiles]) -> list[str]:
    """A line for each program and for the servers; none where nothing tells programs apart."""
    if not parts:
        return []
    columns = (
        Column("programs", lambda part: printable(part_name(part.part))),
        number("processes", count),
        Column("lasted", _lasted, number=True),
        number("CPU", seconds, "cpu"),
        number("calls on files", count, "calls"),
        number("read", size, "bytes_read"),
        number("written", size, "bytes_written"),
        number("time in them", seconds, "time"),
    )
    note = "(files by the FileSystem API, or by the calls of Java or of the system; of all threads)"
    return [*table(parts, columns), note]


def part_name(part: str) -> str:
    """What a reader calls it."""
    return "servers" if part == SHARED else part


def _lasted(part: PartFiles) -> str:
    if part.part == SHARED or part.start is None or part.end is None:
        return ""
    return seconds(part.end - part.start)
