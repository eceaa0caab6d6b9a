from __future__ import annotations

from msgspec.structs import replace

from iostrata.analyse.children import ChildProgram
from iostrata.analyse.process_times import ProcessTime
from iostrata.show.children import child_line, child_table

S = 10**9
MAPPER = ChildProgram(
    program="python3 map.py", processes=6, failed=1, lived=60 * S, cpu=12 * S, io_read=3 << 20,
    io_written=1 << 20, disk_read=0, disk_written=4096, parents=6, waited=63 * S,
)  # fmt: skip
SHELL = ChildProgram(
    program="", processes=1, failed=0, lived=S, cpu=S // 10, io_read=None, io_written=None,
    disk_read=None, disk_written=None, parents=1, waited=0,
)  # fmt: skip


def times(cpu: int) -> list[ProcessTime]:
    return [
        ProcessTime(
            role="map",
            processes=6,
            lived=60 * S,
            begin=None,
            program=cpu // 2,
            class_loading=None,
            jvm=cpu // 2,
            compilers=0,
            queued=0,
            throttled=0,
        )
    ]


def test_children_that_take_much_of_the_cpu_have_a_line() -> None:
    assert child_line([MAPPER, SHELL], times(100 * S)) == [
        "not traced: 7 child processes with 12.10 s of CPU, most in python3 map.py (6 processes, "
        "12.00 s, 3.0 MiB read, 1.0 MiB written)"
    ]
    assert child_line([SHELL], []) == [
        "not traced: 1 child process with 100.0 ms of CPU, most in a program without name "
        "(1 process, 100.0 ms)"
    ]
    assert child_line([MAPPER, SHELL], times(240 * S)) == []
    assert child_line([], times(S)) == []
    hostile = replace(SHELL, program="sh \x1b[2J")
    assert "\x1b" not in "".join([*child_line([hostile], []), *child_table([hostile])])


def test_the_table_says_what_the_kernel_did_not_say() -> None:
    assert child_table([]) == []
    head, first, second, note = child_table([MAPPER, SHELL])
    assert head.split()[:3] == ["children", "number", "failed"]
    assert first.startswith("python3 map.py")
    assert "63.00 s" in first
    assert second.count("?") == 4
    assert note.startswith("(not traced;")
