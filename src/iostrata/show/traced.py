"""What of the bytes of each process was not traced, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.traced import TracedShare
from iostrata.show.tables import Column, number, table
from iostrata.text import percent, plural, size

MOST_ROWS = 20
# Names of [native_code] in schema/events.toml, the likeliest cause first.
_CAUSES = {
    "netty": "native transport",
    "sqlite": "SQLite by JNI",
    "rocksdb": "RocksDB by JNI",
    "leveldb": "LevelDB by JNI",
    "hadoop": "native code of Hadoop",
    "library": "a JNI library",
    "children": "native children",
}
_UNKNOWN = "native code"


def missing_lines(shares: Sequence[TracedShare]) -> list[str]:
    """A line for each process of which much is missing: `12.4 MiB of 14.0 MiB (89 %) by HMaster
    pid 12 are not traced: native transport`; and for each of which nobody knows how much.
    """
    short = [
        f"{size(row.missing)} of {size(row.moved)} ({percent(1 - row.share)}) by {_who(row)} "
        f"are not traced: {cause(row)}"
        for row in shares
        if row.is_short
    ]
    # recv() and send(), which it uses, are in no count of the kernel
    uncounted = [
        f"what {_who(row)} sends by another copy of Netty's native transport is neither traced nor "
        "counted"
        for row in shares
        if "netty" in row.native and not row.is_short
    ]
    return [*short, *uncounted]


def cause(row: TracedShare) -> str:
    """Where the missing bytes of a process went, likely."""
    past_java = row.missing - row.mapped
    causes = ["mapped files"] if row.mapped > past_java / 10 else []
    if past_java > row.mapped / 10:
        causes += [text for name, text in _CAUSES.items() if name in row.native] or [_UNKNOWN]
    return " or ".join(causes)


def share_table(shares: Sequence[TracedShare]) -> list[str]:
    """The kernel's account of each process beside what was traced; no line where none is known."""
    if not shares:
        return []
    columns = (
        Column("process", _who),
        *(number("moved", size), number("missing", size)),
        *(number("read", size, "io_read"), number("written", size, "io_written")),
        *(number("from disk", size, "disk_read"), number("to disk", size, "disk_written")),
        Column("traced", lambda row: percent(row.share), number=True),
        Column("likely cause", lambda row: cause(row) if row.is_short else ""),
    )
    more = len(shares) - MOST_ROWS
    last = [f"and {plural(more, 'process')} more (--json lists all)"] * (more > 0)
    return [*table(shares[:MOST_ROWS], columns), *last]


def _who(row: TracedShare) -> str:
    return f"{row.role or 'java'} pid {row.pid}"
