"""Tables as they are read: names of columns that version 1 froze, and what they are called now."""

from __future__ import annotations

from iostrata.schema.events import (
    CHILD_COLUMNS,
    COLUMNS,
    DEVICE_COLUMNS,
    PROCESS_COLUMNS,
    SYSTEM_COLUMNS,
    THREAD_COLUMNS,
    USAGE_COLUMNS,
)

# Parquet files keep their names; everything that reads a run through iostrata knows these.
READ_AS = {"anchor": "scope", "folded": "collapsed", "refused": "rejected"}


def as_read(columns: dict[str, str]) -> dict[str, str]:
    """Types by the names that readers know."""
    return {READ_AS.get(name, name): kind for name, kind in columns.items()}


EVENTS = as_read(COLUMNS)
PROCESSES = as_read(PROCESS_COLUMNS)
CHILDREN = as_read(CHILD_COLUMNS)
THREADS = as_read(THREAD_COLUMNS)
USAGE = as_read(USAGE_COLUMNS)
SYSTEM = as_read(SYSTEM_COLUMNS)
DEVICES = as_read(DEVICE_COLUMNS)
