"""The call tree: calls that came the same way are one node, whatever thread, process or host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.show.sample import Row
from iostrata.show.tree import Node, call_tree, tree_lines
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call

MS = 1_000_000


def call(name: str, span: int, parent: int | None = None, ms: int = 0, **more: Any) -> Row:
    layer, op = name.split(".")
    given = {"proc": 1, "span": span, "parent": parent, "dur": ms * MS, "bytes": 0}
    return row_of_call(layer, op, "t", **{**given, **more})


def tree(store: Path, events: list[Row]) -> list[Node]:
    make_run(store, "r", events, [process("client", 1), process("DataNode", 2)])
    with OpenedRun(find_run(store, "r")) as opened:
        return call_tree(opened)


def test_a_tree_of_two_processes(tmp_path: Path) -> None:
    found = tree(
        tmp_path,
        [
            call("fs.write", 1, None, 100, bytes=10),
            call("hdfs.write", 2, 1, 60, bytes=10),
            call("datanode.receive_block", 1, 2, 50, proc=2, parent_proc=1),
            call("java.write", 2, 1, 5, proc=2, bytes=4),
            call("java.write", 3, 1, 15, proc=2, bytes=6),
            call("fs.write", 5, None, 20, bytes=2),
            call("hdfs.write", 6, 5, 10, bytes=2),
            call("java.read", 9, 77, 1, bytes=1),  # of a call that was lost
        ],
    )
    assert tree_lines(found, depth=9, least=0) == [
        "call tree                   calls  time of all threads  bytes",
        "fs.write                        2             120.0 ms   12 B",
        "  hdfs.write                    2              70.0 ms   12 B",
        "    datanode.receive_block      1              50.0 ms    0 B",
        "      java.write                2              20.0 ms   10 B",
        "java.read                       1               1.0 ms    1 B",
    ]
    assert tree_lines(found, depth=2, least=0.01)[3:] == [
        "    (2 nodes more)",
        "(1 node more)",
    ]


def test_what_a_killed_process_had_caused_keeps_its_place(tmp_path: Path) -> None:
    (root,) = tree(
        tmp_path, [call("fs.write", 1, None, 9, kind="unfinished"), call("hdfs.write", 2, 1, 5)]
    )
    assert (root.totals["calls"], root.time) == (0, 0)
    assert [(node.op, node.totals["time"]) for node in root.below] == [("write", 5 * MS)]


def test_a_sample_is_scaled_back(tmp_path: Path) -> None:
    events = []
    for request in range(1, 201):
        events += [
            call("fs.read", 10 * request, None, 2, inclusion=0.25),
            call("java.read", 10 * request + 1, 10 * request, 1, inclusion=0.25),
        ]
    (root,) = tree(tmp_path, events)
    (below,) = root.below
    assert (root.totals["calls"], below.totals["calls"]) == (800, 800)
    assert (root.totals["time"], below.totals["time"]) == (1600 * MS, 800 * MS)
    # Poisson sampling: a deviation of sqrt(200 * (1 - p)) / p = 49 calls
    assert 90 < root.totals["calls_bound"] < 125
    assert tree_lines([root], 9, 0)[1].split()[1:3] == ["~800", "±13"]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abc")), min_size=1, max_size=40))
def test_every_call_is_in_the_tree_once(tmp_path_factory: Any, calls: list[Any]) -> None:
    """GIVEN any forest THEN the nodes are the ways of its calls, each with as many as came it."""
    events: list[Row] = []
    ways: dict[int, tuple[str, ...]] = {0: ()}
    expected: dict[tuple[str, ...], int] = {}
    for number, (above, op) in enumerate(calls, 1):
        parent = above % number  # an earlier call, or none
        way = (*ways[parent], op)
        ways[number] = way
        expected[way] = expected.get(way, 0) + 1
        events.append(call(f"java.{op}", number, parent or None, 1))
    found: dict[tuple[str, ...], int] = {}

    def walk(level: list[Node], above: tuple[str, ...]) -> None:
        for node in level:
            way = (*above, node.op)
            assert way not in found
            found[way] = node.totals["calls"]
            walk(node.below, way)

    walk(tree(tmp_path_factory.mktemp("tree"), events), ())
    assert found == expected
