"""Child processes that were not traced, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.children import ChildProgram
from iostrata.analyse.process_times import ProcessTime
from iostrata.show.tables import Column, named, number, table
from iostrata.text import count, plural, printable, seconds, size

MOST_ROWS = 20
LEAST_SHARE = 0.05  # of the CPU time of all: below, nobody needs to know at once


def child_line(programs: Sequence[ChildProgram], times: Sequence[ProcessTime]) -> list[str]:
    """A line where children took much of the CPU time of a run, with that which took most."""
    cpu = sum(program.cpu for program in programs)
    own = sum(row.program + row.jvm for row in times)
    if not cpu or cpu < LEAST_SHARE * (cpu + own):
        return []
    most, all_of_them = programs[0], sum(program.processes for program in programs)
    moved = ""
    if most.io_read is not None and most.io_written is not None:
        moved = f", {size(most.io_read)} read, {size(most.io_written)} written"
    line = (
        f"not traced: {plural(all_of_them, 'child process')} with {seconds(cpu)} of CPU, most in "
        f"{most.program or 'a program without name'} ({plural(most.processes, 'process')}, "
        f"{seconds(most.cpu)}{moved})"
    )
    return [printable(line)]


def child_table(programs: Sequence[ChildProgram]) -> list[str]:
    """What the kernel says of children, by program; no line where there were none."""
    if not programs:
        return []
    columns = (
        named("children", "program"),
        number("number", count, "processes"),
        number("failed", count),
        number("wall time", seconds, "lived"),
        number("CPU", seconds, "cpu"),
        *(_bytes("read", "io_read"), _bytes("written", "io_written")),
        *(_bytes("from disk", "disk_read"), _bytes("to disk", "disk_written")),
        number("parents waited", seconds, "waited"),
    )
    more = len(programs) - MOST_ROWS
    last = [f"and {plural(more, 'program')} more (--json lists all)"] * (more > 0)
    return [
        *table(programs[:MOST_ROWS], columns),
        *last,
        "(not traced; by the kernel, with the children that they had waited for themselves)",
    ]


def _bytes(title: str, field: str) -> Column:
    def text(row: ChildProgram) -> str:
        moved: int | None = getattr(row, field)
        return "?" if moved is None else size(moved)

    return Column(title, text, number=True)
