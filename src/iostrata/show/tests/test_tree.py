"""The call tree: calls that came the same way are one node, whatever thread, process or host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.analyse.sample import Row
from iostrata.errors import UserError
from iostrata.schema.events import COLUMNS
from iostrata.show.tests.job import Job
from iostrata.show.tree import call_tree, tree_document, tree_lines
from iostrata.show.trees import ORDERS, Choice, Node, document, native, walk
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import make_run, process, row_of_call, row_of_sum, write

MS = 1_000_000


def call(name: str, span: int, parent: int | None = None, ms: int = 0, **more: Any) -> Row:
    layer, op = name.split(".")
    given: Row = {"proc": 1, "tid": 1, "span": span, "parent": parent, "dur": ms * MS, "bytes": 0}
    given |= {"start": 0, "host": "node", "role": "client"}
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
            call("java.write", 3, 1, 15, proc=2, bytes=6, start=5 * MS),
            call("fs.write", 5, None, 20, bytes=2),
            call("hdfs.write", 6, 5, 10, bytes=2),
            call("java.read", 9, 77, 1, bytes=1),  # of a call that was lost
        ],
    )
    assert tree_lines(found, depth=9, least=0) == [
        "call tree                   calls  time of all threads     self  bytes",
        "fs.write                        2             120.0 ms  50.0 ms   12 B",
        "  hdfs.write                    2              70.0 ms  70.0 ms   12 B",
        "    datanode.receive_block      1              50.0 ms  30.0 ms    0 B",
        "      java.write                2              20.0 ms  20.0 ms   10 B",
        "java.read                       1               1.0 ms   1.0 ms    1 B",
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


def sums_of(events: list[Row]) -> list[Row]:
    """Each call once more in a sum without anchor, as the counter row of its point has it."""
    counted = [
        row_of_sum(
            row["layer"],
            row["op"],
            proc=row["proc"],
            tid=1,
            timed_dur=row["dur"],
            bytes=row["bytes"],
        )
        for row in events
    ]
    return [*events, *counted]


def test_calls_that_were_only_summed_hang_from_their_anchor(tmp_path: Path) -> None:
    kept = [call("task.run", 1, None, 100), call("java.read", 2, 1, 10, bytes=5)]
    hot = row_of_sum("record", "read", proc=1, tid=1, anchor=1, count=1000, bytes=4000)
    (root,) = tree(tmp_path, [*sums_of(kept), hot])
    assert tree_lines([root], 9, 0) == [
        "call tree      calls  time of all threads     self    bytes",
        "task.run           1             100.0 ms  90.0 ms      0 B",
        "  java.read        1              10.0 ms  10.0 ms      5 B",
        "  record.read  1 000               1.0 ms     0 µs  3.9 KiB",
    ]


def test_the_user_says_which_functions_are_shown(tmp_path: Path) -> None:
    events = [
        call("fs.write", 1, None, 100),
        call("hdfs.write", 2, 1, 60),
        call("java.write", 3, 2, 5),
    ]
    make_run(tmp_path, "r", events, [process("client", 1)])
    listed = tmp_path / "functions.txt"
    listed.write_text("# those of the client\nfs.*\njava.write  # and its disk\n")
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        dropped = call_tree(opened, Choice(drop=("hdfs.*",)))
        kept = call_tree(opened, Choice(keep=(str(listed),)))
        with pytest.raises(UserError, match=r"no function is called s3\.\*"):
            call_tree(opened, Choice(drop=("s3.*",)))
    assert [node.as_dict() for node in dropped] == [node.as_dict() for node in kept]
    assert [(node.name, node.totals["self"]) for node in walk(kept)] == [
        ("fs.write", 95 * MS),
        ("java.write", 5 * MS),
    ]


def test_a_report_gets_at_most_2000_nodes_with_all_totals(tmp_path: Path) -> None:
    events = [
        call(f"java.op{number}", number, number // 3 or None, number % 50, bytes=number)
        for number in range(1, 5001)
    ]
    make_run(tmp_path, "r", events, [process("client", 1)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        shown = tree_document(opened)
    nodes: list[Row] = []
    level = shown
    while level:
        nodes += level
        level = [below for node in level for below in node["below"]]
    assert len(nodes) <= 2000
    assert sum(node["calls"] for node in nodes) == 5000
    assert sum(node["bytes"] for node in nodes) == 5000 * 5001 // 2
    assert any(node["name"].endswith("more)") and node["layer"] == "" for node in nodes)


def test_what_is_very_deep_is_put_together(tmp_path: Path) -> None:
    events = [call("java.read", number, number - 1 or None, 1) for number in range(1, 3001)]
    found = tree(tmp_path, events)
    names = [node.name for node in walk(found)]
    assert (len(names), names[-1]) == (201, "(2 800 nodes more)")
    assert sum(node.totals["calls"] for node in walk(found)) == 3000


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = make_run(tmp_path, "r", [call("java.read", 1)], [process("client", 1)])
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        (part,) = path.glob("events/*/*.parquet")
        part.write_bytes(b"PAR1 and nothing else PAR1")
        with pytest.raises(UserError, match=r"^call trees: .*part-000001\.parquet cannot be read"):
            call_tree(opened)


def test_passes_and_threads_change_nothing(tmp_path: Path) -> None:
    job = Job(seed=1, requests=60)
    path = make_run(tmp_path, "r", job.rows[::2] + job.sums(), [])
    for part in range(3):
        rows = job.rows[1::2][part::3]
        write(path / f"events/host=node/part-00000{part + 2}.parquet", rows, COLUMNS)
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        for order in ORDERS:
            arguments = Choice(order).arguments()
            expected = native(opened, [*arguments, "--threads=1"])
            assert len(expected["clocks"]) == 2
            for threads in (1, 2, 4):
                of = [*arguments, f"--threads={threads}"]
                assert native(opened, of) == expected
                assert native(opened, [*of, "--memory=2000"]) == expected


def test_how_far_it_is_is_said(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [call("java.read", number) for number in range(1, 9)], [])
    parts: list[float] = []
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        assert document(opened, progress=lambda _, part=0.0: parts.append(part)) == (
            document(opened)
        )
    assert parts == [0.0, 0.5, 1.0]  # rows were read, trees made
