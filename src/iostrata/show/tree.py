"""The call tree of a run, as text and as the document of a report."""

from __future__ import annotations

import heapq

from iostrata.analyse.sample import Row
from iostrata.progress import Progress, silent
from iostrata.show.trees import Choice, Node, cut, document, nodes_of, number, shallow
from iostrata.store.opened import OpenedRun
from iostrata.text import columns, count, near, plural, seconds, size

# Of a report, without the nodes that stand for others: at most one of those per node.
MOST_NODES = 1000


def call_tree(
    opened: OpenedRun,
    choice: Choice | None = None,
    trees: Row | None = None,
    progress: Progress = silent,
) -> list[Node]:
    """The calls that nothing caused, or nothing that was kept, with all below; longest first.

    `trees`: what `show.trees.document` says of the choice, if it is there.
    """
    return shallow(nodes_of(opened, trees or document(opened, choice, progress)))


def tree_lines(roots: list[Node], depth: int, least: float) -> list[str]:
    """The tree, indented; nodes deeper than `depth`, or shorter than `least`, are only counted.

    `least` is a share of the time of all roots.
    """
    floor = least * sum(node.time for node in roots)
    cells: list[list[str]] = []
    texts = {"calls": count, "time": seconds, "self": seconds, "bytes": size}

    def show(level: list[Node], indent: int) -> None:
        shown = [node for node in level if indent < depth and node.time >= floor]
        for node in shown:
            name = f"{'  ' * indent}{node.name}"
            cells.append([name, *(near(node.totals, key, text) for key, text in texts.items())])
            show(node.below, indent + 1)
        hidden = number(level) - number(shown)
        if hidden:
            cells.append([f"{'  ' * indent}({plural(hidden, 'node')} more)", "", "", "", ""])

    show(roots, 0)
    names = ["call tree", "calls", "time of all threads", "self", "bytes"]
    return columns(names, cells, range(1, 5))


def tree_document(opened: OpenedRun, trees: Row | None = None) -> list[Row]:
    """The call tree for a report: name, layer, op, calls, total, self, bytes, errors, min, max,
    p50, p99 (times in ns, null where not known), estimated, below.

    At most 2 MOST_NODES nodes: those that took longest, and where others were left out one without
    layer that has their sums.
    """
    roots = call_tree(opened, trees=trees)
    kept: set[int] = set()
    queue = [(-node.time, at, node) for at, node in enumerate(roots)]
    heapq.heapify(queue)
    pushed = len(queue)
    while queue and len(kept) < MOST_NODES - 1:
        _, _, node = heapq.heappop(queue)
        kept.add(id(node))
        for below in node.below:
            heapq.heappush(queue, (-below.time, pushed, below))
            pushed += 1
    return [_shown(node) for node in cut(roots, kept)]


def _shown(node: Node) -> Row:
    totals = {name: node.totals[name] for name in ("calls", "self", "bytes")}
    return {
        "name": node.name,
        "layer": node.layer,
        "op": node.op,
        **{name: value or 0 for name, value in totals.items()},
        "total": node.totals["time"] or round(node.time),
        **node.facts,
        "below": [_shown(below) for below in node.below],
    }
