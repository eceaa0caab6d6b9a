"""The call tree: calls that came the same way are one node, whatever thread, process or host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.analyse.calltree.native import ORDERS, CallTrees, Choice, ask, call_trees, of_run
from iostrata.analyse.calltree.tests.job import Job
from iostrata.analyse.calltree.tests.made import MS, call, node, sums_of, tree
from iostrata.analyse.calltree.trees import CallNode, call_tree, cut, walk
from iostrata.errors import UserError
from iostrata.schema.events import COLUMNS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import Row, make_run, process, row_of_sum, write

forests = st.lists(
    st.recursive(
        st.builds(lambda own: node("fs", "leaf", own=own, bytes=own), st.integers(0, 9)),
        lambda below: st.builds(
            lambda own, nodes: node("hdfs", "inner", *nodes, own=own, bytes=own),
            st.integers(0, 9),
            st.lists(below, max_size=4),
        ),
        max_leaves=40,
    ),
    max_size=4,
)


def shown(roots: list[CallNode]) -> list[Any]:
    """Name, calls, time, self and bytes, each node before those below it."""
    rows = []
    for one in roots:
        rows += [(one.name, one.calls, one.time, one.self, one.bytes), *shown(one.below)]
    return rows


def test_a_tree_of_two_processes(tmp_path: Path) -> None:
    roots = tree(
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
    assert shown(roots) == [
        ("fs.write", 2, 120 * MS, 50 * MS, 12),
        ("hdfs.write", 2, 70 * MS, 70 * MS, 12),
        ("datanode.receive_block", 1, 50 * MS, 30 * MS, 0),
        ("java.write", 2, 20 * MS, 20 * MS, 10),
        ("java.read", 1, MS, MS, 1),
    ]


def test_what_a_killed_process_had_caused_keeps_its_place(tmp_path: Path) -> None:
    (root,) = tree(
        tmp_path, [call("fs.write", 1, None, 9, kind="unfinished"), call("hdfs.write", 2, 1, 5)]
    )
    assert (root.calls, root.time) == (0, 0)
    assert [(node.op, node.time) for node in root.below] == [("write", 5 * MS)]


def test_a_sample_is_scaled_back(tmp_path: Path) -> None:
    events = []
    for request in range(1, 201):
        events += [
            call("fs.read", 10 * request, None, 2, inclusion=0.25),
            call("java.read", 10 * request + 1, 10 * request, 1, inclusion=0.25),
        ]
    (root,) = tree(tmp_path, events)
    (below,) = root.below
    assert (root.calls, below.calls) == (800, 800)
    assert (root.time, below.time) == (1600 * MS, 800 * MS)
    # Poisson sampling: a deviation of sqrt(200 * (1 - p)) / p = 49 calls
    assert root.calls_bound is not None
    assert 90 < root.calls_bound < 125


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

    def walk(level: list[CallNode], above: tuple[str, ...]) -> None:
        for one in level:
            way = (*above, one.op)
            assert way not in found
            found[way] = one.calls or 0
            walk(one.below, way)

    walk(tree(tmp_path_factory.mktemp("tree"), events), ())
    assert found == expected


def test_calls_that_were_only_summed_hang_from_their_scope(tmp_path: Path) -> None:
    kept = [call("task.run", 1, None, 100), call("java.read", 2, 1, 10, bytes=5)]
    hot = row_of_sum("record", "read", proc=1, tid=1, anchor=1, count=1000, bytes=4000)
    (root,) = tree(tmp_path, [*sums_of(kept), hot])
    assert shown([root]) == [
        ("task.run", 1, 100 * MS, 90 * MS, 0),
        ("java.read", 1, 10 * MS, 10 * MS, 5),
        ("record.read", 1000, MS, 0, 4000),
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
        dropped = call_tree(opened, call_trees(opened, Choice(drop=("hdfs.*",))))
        kept = call_tree(opened, call_trees(opened, Choice(keep=(str(listed),))))
        with pytest.raises(UserError, match=r"no function is called s3\.\*"):
            call_trees(opened, Choice(drop=("s3.*",)))
    assert dropped == kept
    assert [(node.name, node.self) for node in walk(kept)] == [
        ("fs.write", 95 * MS),
        ("java.write", 5 * MS),
    ]


def test_a_tree_of_the_longest_nodes_has_all_totals(tmp_path: Path) -> None:
    events = [
        call(f"java.op{number}", number, number // 3 or None, number % 50, bytes=number)
        for number in range(1, 5001)
    ]
    nodes = list(walk(cut(tree(tmp_path, events), most=1000)))
    assert len(nodes) <= 2000
    assert sum(node.calls or 0 for node in nodes) == 5000
    assert sum(node.bytes or 0 for node in nodes) == 5000 * 5001 // 2
    assert any(node.name.endswith("more)") and node.layer == "" for node in nodes)


def test_what_is_very_deep_is_put_together(tmp_path: Path) -> None:
    events = [call("java.read", number, number - 1 or None, 1) for number in range(1, 3001)]
    nodes = list(walk(tree(tmp_path, events)))
    assert (len(nodes), nodes[-1].name) == (201, "(2 800 nodes more)")
    assert sum(node.calls or 0 for node in nodes) == 3000


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
            arguments = [*of_run(opened), *Choice(order).arguments()]
            expected = ask(CallTrees, [*arguments, "--threads=1"])
            assert len(expected.clocks) == 2
            for threads in (1, 2, 4):
                of = [*arguments, f"--threads={threads}"]
                assert ask(CallTrees, of) == expected
                assert ask(CallTrees, [*of, "--memory=2000"]) == expected


def test_progress_is_reported(tmp_path: Path) -> None:
    make_run(tmp_path, "r", [call("java.read", number) for number in range(1, 9)], [])
    parts: list[float] = []
    with OpenedRun(find_run(tmp_path, "r")) as opened:
        assert call_trees(opened, progress=lambda _, part=0.0: parts.append(part)) == (
            call_trees(opened)
        )
    assert parts == [0.0, 0.5, 1.0]  # rows were read, trees made


@given(forests, st.integers(1, 12))
def test_a_cut_tree_keeps_its_sums(roots: list[CallNode], most: int) -> None:
    kept = cut(roots, most)
    before, after = list(walk(roots)), list(walk(kept))
    for name in ("self", "bytes", "errors", "calls"):
        assert sum(getattr(n, name) for n in after) == sum(getattr(n, name) for n in before)
    # below every node that is kept stands all that stood there
    assert sum(n.scaled for n in kept) == sum(n.scaled for n in roots)
    whole = [n for n in after if not n.collapsed]
    for one in whole:
        assert one.scaled == (one.self or 0) + sum(child.scaled for child in one.below)
    # and every node is either shown or counted
    assert len(whole) == min(most, len(before))
    assert len(whole) + sum(n.collapsed for n in after) == len(before)
    assert cut(kept, most) == kept
    # cut further, those that were counted still are
    assert sum(n.collapsed or 1 for n in walk(cut(kept, 1))) == len(before)


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    deep = node("fs", "leaf", own=1000)
    for _ in range(5000):
        deep = node("fs", "read", deep)
    kept = list(walk(cut([deep], 2000, depth=48)))
    assert len(kept) == 49
    assert (kept[-1].collapsed, kept[-1].self) == (5001 - 48, 1000)
