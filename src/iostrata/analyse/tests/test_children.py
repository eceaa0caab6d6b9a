from __future__ import annotations

from iostrata.analyse.children import ChildProgram, child_programs
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import SECOND, START, child, row_of_call, row_of_sum


def test_children_by_program(traced: Traced) -> None:
    pipe = {"category": "pipe", "point": 1}
    events = [
        row_of_sum("java", "read", proc=1, thread="out", timed_dur=4 * SECOND, **pipe),
        row_of_sum("java", "read", proc=1, thread="err", timed_dur=3 * SECOND, **pipe),
        row_of_sum("java", "read", proc=2, thread="out", timed_dur=5 * SECOND, **pipe),
        # what it is given itself
        row_of_sum("java", "read", proc=2, thread="main", timed_dur=9 * SECOND, **pipe),
        row_of_call("java", "read", "stdin", proc=2, thread="main", category="pipe"),
    ]
    children = [
        child(1, "python3 map.py", io_read=10, io_written=1, disk_read=5),
        child(1, "python3 map.py", io_read=20, exit=-9, end=START + 2 * SECOND),
        child(
            2, "python3 map.py", io_read=None, io_written=None, disk_read=None, disk_written=None
        ),
        child(3, "true", cpu=0, io_read=None, io_written=None, disk_read=None, disk_written=None),
    ]
    found = traced(events, children=children).records(child_programs(), ChildProgram)
    assert found == [
        ChildProgram(
            program="python3 map.py", processes=3, failed=1, lived=4 * SECOND,
            cpu=3 * SECOND // 2, io_read=30, io_written=1, disk_read=5, disk_written=0,
            parents=2, waited=9 * SECOND,
        ),
        ChildProgram(
            program="true", processes=1, failed=0, lived=SECOND, cpu=0, io_read=None,
            io_written=None, disk_read=None, disk_written=None, parents=1, waited=0,
        ),
    ]  # fmt: skip


def test_a_run_without_children_has_none(traced: Traced) -> None:
    assert traced([row_of_sum("java", "read")]).records(child_programs(), ChildProgram) == []
