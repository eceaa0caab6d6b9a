from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.threads import ThreadGroup
from iostrata.show.threads import MOST_ROWS, thread_table

S = 10**9
TASKS = ThreadGroup(
    role="executor", name="Executor task launch worker for task #", threads=4, cpu=20 * S,
    queued=S, busiest=8 * S,
)  # fmt: skip


def test_threads_are_told_by_name_and_role() -> None:
    assert thread_table([]) == []
    head, row, note = thread_table([TASKS])
    assert head.split()[:2] == ["threads", "role"]
    assert row.split()[-6:] == ["20.00", "s", "8.00", "s", "1.00", "s"]
    assert note.startswith("(by the scheduler")


def test_what_a_thread_is_called_reaches_no_terminal() -> None:
    hostile = replace(TASKS, name="main \x1b[2J")
    assert "\x1b" not in "".join(thread_table([hostile]))


def test_only_the_busiest_are_shown() -> None:
    lines = thread_table([TASKS] * (MOST_ROWS + 2))
    assert lines[-2] == "and threads of 2 names more (--json lists all)"
