"""What calls cause, merged: the call tree of a run.

All calls that came the same way (layer and operation of each call above them, across threads,
processes and hosts) are one node. Only calls kept one by one are in it; where only some requests
were kept, they are scaled back and have bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iostrata.show import sample
from iostrata.show.sample import Row
from iostrata.show.text import columns, count, near, plural, seconds, size
from iostrata.store.opened import OpenedRun


@dataclass
class Node:
    """Calls that came the same way.

    `totals`: calls, time (ns), bytes, each with NAME_bound; None where too few requests were drawn.
    `time` is the same scaled up whatever it is worth, for order and pruning only.
    """

    layer: str
    op: str
    time: float = 0.0
    totals: Row = field(default_factory=lambda: {"calls": 0, "time": 0, "bytes": 0})
    below: list[Node] = field(default_factory=list)

    def as_dict(self) -> Row:
        """JSON values, with what is below."""
        return {
            "layer": self.layer,
            "op": self.op,
            **self.totals,
            "below": [node.as_dict() for node in self.below],
        }


_MEASURES = {"calls": "1", "time": "dur", "bytes": "coalesce(bytes, 0)"}


def call_tree(opened: OpenedRun) -> list[Node]:
    """The calls that nothing caused, or nothing that was kept, with all below; longest first."""
    sample.draw(opened)
    opened.rows(_PLACED)
    opened.rows(_TREE)
    nodes: dict[int, Node] = {}
    ways = opened.rows("SELECT DISTINCT node, up_node, layer, op FROM placed")
    for row in ways:
        nodes[row["node"]] = Node(row["layer"], row["op"])
    for row in opened.rows("SELECT node, sum(w * dur) AS time FROM tree GROUP BY node"):
        nodes[row["node"]].time = row["time"]
    for name, value in _MEASURES.items():
        for row in sample.totals(opened, "node", value, table="tree"):
            nodes[row["node"]].totals |= sample.bounded(name, row)
    roots: list[Node] = []
    for row in ways:
        up = nodes.get(row["up_node"])
        (roots if up is None else up.below).append(nodes[row["node"]])
    for level in [roots, *(node.below for node in nodes.values())]:
        level.sort(key=lambda node: (-node.time, node.layer, node.op))
    return roots


def tree_lines(roots: list[Node], depth: int, least: float) -> list[str]:
    """The tree, indented; nodes deeper than `depth`, or shorter than `least`, are only counted.

    `least` is a share of the time of all roots.
    """
    floor = least * sum(node.time for node in roots)
    cells: list[list[str]] = []

    def show(level: list[Node], indent: int) -> None:
        shown = [node for node in level if indent < depth and node.time >= floor]
        for node in shown:
            name = f"{'  ' * indent}{node.layer}.{node.op}"
            texts = {"calls": count, "time": seconds, "bytes": size}
            cells.append([name, *(near(node.totals, key, text) for key, text in texts.items())])
            show(node.below, indent + 1)
        hidden = sum(map(_nodes, level)) - sum(map(_nodes, shown))
        if hidden:
            cells.append([f"{'  ' * indent}({plural(hidden, 'node')} more)", "", "", ""])

    show(roots, 0)
    return columns(["call tree", "calls", "time of all threads", "bytes"], cells, range(1, 4))


def _nodes(node: Node) -> int:
    return 1 + sum(map(_nodes, node.below))


# Level by level from calls whose way up is not known. A call that never ended has a place, so that
# what it caused has one, but no time. Nodes are named by a hash of the way: 64 bits of some 10,000.
_PLACED = """
    CREATE OR REPLACE TEMP TABLE placed AS
    WITH RECURSIVE call AS (
        SELECT proc, span, coalesce(parent_proc, proc) AS up_proc, parent AS up, layer, op
        FROM events WHERE kind IN ('call', 'unfinished') AND layer <> 'jvm'),
    way(proc, span, node, up_node, layer, op) AS (
        SELECT call.proc, call.span, hash(0, call.layer, call.op), NULL::UBIGINT, call.layer,
            call.op
        FROM call LEFT JOIN call AS above ON above.proc = call.up_proc AND above.span = call.up
        WHERE above.span IS NULL
        UNION ALL
        SELECT call.proc, call.span, hash(way.node, call.layer, call.op), way.node, call.layer,
            call.op
        FROM way JOIN call ON call.up_proc = way.proc AND call.up = way.span)
    SELECT * FROM way"""
_TREE = """
    CREATE OR REPLACE TEMP TABLE tree AS
    SELECT placed.node, request, w, coalesce(dur, 0) AS dur, bytes
    FROM placed JOIN sample ON sample.proc = placed.proc AND sample.span = placed.span"""
