"""Whether a process lives, told by its id and start time, because ids are used again."""

from __future__ import annotations

from pathlib import Path


def start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat, clock ticks since boot; None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("latin-1")
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses: count fields after the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def alive(pid: int, start: int) -> bool:
    """True while the process that had this id and start time still runs."""
    return start_ticks(pid) == start
