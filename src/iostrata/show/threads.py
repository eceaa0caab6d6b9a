"""What threads took, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.threads import ThreadGroup
from iostrata.show.tables import named, number, table
from iostrata.text import count, plural, seconds

MOST_ROWS = 10


def thread_table(groups: Sequence[ThreadGroup]) -> list[str]:
    """Threads of the run's own processes that had most CPU; no line where none is known."""
    if not groups:
        return []
    columns = (
        named("threads", "name"),
        named("role"),
        number("number", count, "threads"),
        number("CPU", seconds, "cpu"),
        number("the busiest", seconds, "busiest"),
        number("waited for CPU", seconds, "queued"),
    )
    more = len(groups) - MOST_ROWS
    last = [f"and threads of {plural(more, 'name')} more (--json lists all)"] * (more > 0)
    return [
        *table(groups[:MOST_ROWS], columns),
        *last,
        "(by the scheduler, of threads that made a traced call; # stands for a number)",
    ]
