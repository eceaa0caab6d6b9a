"""The call tree as text."""

from __future__ import annotations

from pathlib import Path

from iostrata.analyse.calltree.tests.made import call, sums_of, tree
from iostrata.show.tree import tree_lines
from iostrata.store.tests.made import row_of_sum


def test_what_is_deep_or_short_is_only_counted(tmp_path: Path) -> None:
    roots = tree(
        tmp_path,
        [
            call("fs.write", 1, None, 100, bytes=10),
            call("hdfs.write", 2, 1, 60, bytes=10),
            call("datanode.receive_block", 1, 2, 50, proc=2, parent_proc=1),
            call("java.write", 2, 1, 20, proc=2, bytes=10),
            call("java.read", 9, 77, 1, bytes=1),
        ],
    )
    assert tree_lines(roots, depth=9, least=0) == [
        "call tree                   calls  time of all threads     self  bytes",
        "fs.write                        1             100.0 ms  40.0 ms   10 B",
        "  hdfs.write                    1              60.0 ms  60.0 ms   10 B",
        "    datanode.receive_block      1              50.0 ms  30.0 ms    0 B",
        "      java.write                1              20.0 ms  20.0 ms   10 B",
        "java.read                       1               1.0 ms   1.0 ms    1 B",
    ]
    assert tree_lines(roots, depth=2, least=0.01)[3:] == ["    (2 nodes more)", "(1 node more)"]


def test_units_and_calls_that_were_only_counted(tmp_path: Path) -> None:
    individual = [call("task.run", 1, None, 100), call("java.read", 2, 1, 10, bytes=5)]
    hot = row_of_sum("record", "read", proc=1, tid=1, anchor=1, count=1000, bytes=4000)
    assert tree_lines(tree(tmp_path, [*sums_of(individual), hot]), 9, 0) == [
        "call tree      calls  time of all threads     self    bytes",
        "task.run           1             100.0 ms  90.0 ms      0 B",
        "  java.read        1              10.0 ms  10.0 ms      5 B",
        "  record.read  1 000               1.0 ms     0 µs  3.9 KiB",
    ]


def test_an_estimate_has_its_bound(tmp_path: Path) -> None:
    requests = [call("fs.read", span, None, 2, inclusion=0.25) for span in range(1, 201)]
    line = tree_lines(tree(tmp_path, requests), 9, 0)[1]
    assert line.split()[1:3] == ["~800", "±13"]
