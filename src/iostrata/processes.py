"""Whether a process lives. It is known by its id and start time, because ids are used again."""

from __future__ import annotations

from pathlib import Path


def stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third on, the state; raises OSError without a process."""
    stat = Path(f"/proc/{pid}/stat").read_text("latin-1")
    # the name in parentheses may hold blanks and parentheses itself
    return stat.rpartition(")")[2].split()


def start_ticks(pid: int) -> int | None:
    """Clock ticks since boot at which a process started; None for none, and for a zombie.

    A zombie with threads is a process whose first thread has ended: a killed JVM listens on its
    ports until the last one has.
    """
    try:
        fields = stat_fields(pid)
    except OSError:
        return None
    state, threads = fields[0], int(fields[17])
    is_dead = state == "X" or (state == "Z" and threads <= 1)
    return None if is_dead else int(fields[19])


def alive(pid: int, start: int) -> bool:
    """True while the process that had this id and start time still runs."""
    return start_ticks(pid) == start


def waits_in(pid: int) -> str:
    """Where in the kernel a process waits, such as `jbd2_log_wait_commit`; empty when it does not,
    or when that is not ours to know.
    """
    try:
        where = Path(f"/proc/{pid}/wchan").read_text("latin-1").strip()
    except OSError:
        return ""
    return "" if where == "0" else where
