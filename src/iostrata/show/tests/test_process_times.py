"""What processes did with their time, as a table."""

from __future__ import annotations

from pathlib import Path

import iostrata
from iostrata.show.summary import summary_lines
from iostrata.store.tests.made import SECOND, START, make_run, process, row_of_sum


def test_roles_with_the_cpu_of_program_and_jvm(tmp_path: Path) -> None:
    knows = {"cpu": 5 * SECOND, "cpu_jvm": 2 * SECOND, "queued": SECOND, "start": START}
    processes = [
        process("map", 1, end=START + 4 * SECOND, **knows),
        process("map", 2, end=START + 6 * SECOND, **knows),
        process("DataNode", 3, **{**knows, "end": None, "cpu": 3 * SECOND}),
        process("client", 4, cpu=9 * SECOND),
    ]
    make_run(tmp_path, "r", [row_of_sum("java", "read")], processes)
    with iostrata.open(tmp_path / "r") as run:
        lines = summary_lines(run.summary)
    begin = next(i for i, line in enumerate(lines) if line.startswith("processes "))
    assert [" ".join(line.split()) for line in lines[begin : begin + 3]] == [
        "processes number wall time CPU of the program of the JVM waited for a CPU",
        "map 2 10.00 s 6.00 s 4.00 s 2.00 s",
        "DataNode 1 1.00 s 2.00 s 1.00 s",
    ]
    assert not lines[begin + 3].startswith("client")


def test_what_compilers_took_is_said_where_it_is_known(tmp_path: Path) -> None:
    knows = {"cpu": 5 * SECOND, "cpu_jvm": 2 * SECOND, "cpu_compilers": SECOND, "queued": 0}
    make_run(tmp_path, "r", [row_of_sum("java", "read")], [process("map", 1, **knows)])
    with iostrata.open(tmp_path / "r") as run:
        lines = [" ".join(line.split()) for line in summary_lines(run.summary)]
    assert "map 1 3.00 s 2.00 s 1.00 s 0 µs" in lines


def test_what_a_limit_held_back_is_said_where_there_is_one(tmp_path: Path) -> None:
    knows = {"cpu": SECOND, "cpu_jvm": 0, "queued": 3 * SECOND, "throttled": 2 * SECOND}
    limited = process("client", 1, start=START, end=START + 4 * SECOND, **knows)
    make_run(tmp_path, "r", [row_of_sum("java", "read")], [limited])
    with iostrata.open(tmp_path / "r") as run:
        lines = [" ".join(line.split()) for line in summary_lines(run.summary)]
    begin = next(i for i, line in enumerate(lines) if line.startswith("processes "))
    assert lines[begin].endswith("waited for a CPU held back by a limit")
    assert lines[begin + 1] == "client 1 4.00 s 1.00 s 0 µs 3.00 s 2.00 s"


def test_begin_and_classes_are_said_where_they_are_known(tmp_path: Path) -> None:
    knows = {"cpu": 5 * SECOND, "cpu_jvm": 2 * SECOND, "queued": 0}
    maps = [
        process("map", 1, **knows, cpu_start=SECOND, class_loading=SECOND // 2),
        process("map", 2, **knows, cpu_start=SECOND, class_loading=SECOND),
    ]
    served = process("DataNode", 3, **knows, class_loading=0)
    make_run(tmp_path, "r", [row_of_sum("java", "read")], [*maps, served])
    with iostrata.open(tmp_path / "r") as run:
        lines = [" ".join(line.split()) for line in summary_lines(run.summary)]
    head = "number wall time CPU before it began CPU of the program loading classes of the JVM"
    assert f"processes {head} waited for a CPU" in lines
    assert "map 2 2.00 s 6.00 s 1.50 s 4.00 s 0 µs" in lines
    assert "DataNode 1 3.00 s 0 µs 2.00 s 0 µs" in lines
