"""What block devices did, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.devices import DeviceTotal
from iostrata.show.tables import Column, named, number, table
from iostrata.text import count, percent, plural, printable, seconds, size

MOST_ROWS = 10


def device_table(devices: Sequence[DeviceTotal]) -> list[str]:
    """The busiest; no line where none is known."""
    if not devices:
        return []
    columns = (
        Column("devices", lambda row: printable(row.device)),
        named("host"),
        Column("mounted at", lambda row: printable(row.mount)),
        number("reads", count),
        number("writes", count),
        number("read", size, "bytes_read"),
        number("written", size, "bytes_written"),
        Column("busy", lambda row: percent(row.share), number=True),
        Column("a request", lambda row: "" if row.time is None else seconds(row.time), number=True),
    )
    more = len(devices) - MOST_ROWS
    last = [f"and {plural(more, 'device')} more (--json lists all)"] * (more > 0)
    note = "(whole devices by the kernel's statistics, whoever used them; not by process)"
    return [*table(devices[:MOST_ROWS], columns), *last, note]
