"""Calls, runs and nodes for tests of call trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iostrata.analyse.calltree.trees import CallNode, call_tree
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
from iostrata.store.tests.made import Row, make_run, process, row_of_call, row_of_sum

MS = 1_000_000


def call(name: str, span: int, parent: int | None = None, ms: int = 0, **more: Any) -> Row:
    layer, op = name.split(".")
    given: Row = {"proc": 1, "tid": 1, "span": span, "parent": parent, "dur": ms * MS, "bytes": 0}
    given |= {"start": 0, "host": "node", "role": "client"}
    return row_of_call(layer, op, "t", **{**given, **more})


def sums_of(events: list[Row]) -> list[Row]:
    """Each call once more in a sum without scope, as the counter row of its point has it."""
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


def tree(store: Path, events: list[Row]) -> list[CallNode]:
    make_run(store, "r", events, [process("client", 1), process("DataNode", 2)])
    with OpenedRun(find_run(store, "r")) as opened:
        return call_tree(opened)


def node(layer: str, op: str, *below: CallNode, own: int = 0, **more: Any) -> CallNode:
    """A node of a tree: ns of its own in `own`; its time adds those below."""
    time = own + sum(child.scaled for child in below)
    calls = more.pop("calls", 1)
    given = {
        "calls": calls,
        "time": time,
        "self": own,
        "bytes": 0,
        "scaled": time,
        "errors": 0,
        "min": time // calls // 4,
        "max": time // calls * 3,
        "p50": time // calls,
        "p99": time // calls * 2,
        "estimated": False,
        "collapsed": 0,
    }
    bounds = dict.fromkeys(("calls_bound", "time_bound", "self_bound", "bytes_bound"), 0)
    return CallNode(layer=layer, op=op, below=list(below), **{**given, **bounds, **more})
