"""The call tree of a run: nodes with totals, and their bounds where only some requests were drawn.

Cutting a tree has one definition here: what is left out becomes one node, so that sums stay exact.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from itertools import count

import msgspec

from iostrata.analyse.buckets import quantile
from iostrata.analyse.calltree.native import CallTrees, Merged, MergedNode, call_trees
from iostrata.analyse.intervals import Spread, half_widths
from iostrata.records import Bytes, Count, Ns, Record
from iostrata.store.opened import OpenedRun
from iostrata.text import plural

# Deeper calls are put together: whoever reads JSON has a stack.
MOST_DEPTH = 200


class CallNode(Record, frozen=True):
    """Calls that share a place in a tree.

    Calls, time, self and bytes have a bound each, and are null where too few requests were drawn.
    `scaled` is the time scaled up however few they are: for order and width only.
    Times of one call are null where they are not known; `estimated`: from sampled clocks.
    A node with `collapsed` has no layer and stands for so many nodes that are not shown.
    """

    layer: str
    op: str
    calls: Count | None
    calls_bound: Count | None
    time: Ns | None
    time_bound: Ns | None
    self: Ns | None
    self_bound: Ns | None
    bytes: Bytes | None
    bytes_bound: Bytes | None
    scaled: Ns
    errors: Count
    min: Ns | None
    max: Ns | None
    p50: Ns | None
    p99: Ns | None
    estimated: bool
    below: list[CallNode]
    collapsed: Count

    @property
    def name(self) -> str:
        """`layer.op`."""
        return f"{self.layer}.{self.op}" if self.layer else self.op


def call_tree(opened: OpenedRun, trees: CallTrees | None = None) -> list[CallNode]:
    """The calls that nothing caused, or nothing that was recorded, with all below.

    Longest first; those of the order `runs` as they followed each other. Raises UserError.
    """
    trees = trees or call_trees(opened)
    nodes: dict[str, CallNode] = {}
    roots: list[CallNode] = []
    for merged, node in zip(trees.nodes, _nodes(trees.nodes), strict=True):
        nodes[merged.id] = node
        above = nodes.get(merged.parent or "")
        (roots if above is None else above.below).append(node)
    roots.sort(key=_longest)
    if trees.order != "runs":
        for node in nodes.values():
            node.below.sort(key=_longest)
    return cut(roots)


def _longest(node: CallNode) -> tuple[int, str, str]:
    return -node.scaled, node.layer, node.op


def _nodes(merged: Sequence[MergedNode]) -> Iterator[CallNode]:
    names = {"calls": "calls", "time": "total", "self": "self", "bytes": "bytes"}
    measures = {name: _measured(merged, of) for name, of in names.items()}
    for place, row in enumerate(merged):
        totals = {name: values[place][0] for name, values in measures.items()}
        bounds = {f"{name}_bound": values[place][1] for name, values in measures.items()}
        yield CallNode(
            layer=row.layer,
            op=row.op,
            **totals,
            **bounds,
            scaled=row.total + round(row.sample.total.total if row.sample else 0),
            errors=row.errors,
            min=row.min,
            max=row.max if row.min is not None else None,
            p50=_quantile(row, 0.5),
            p99=_quantile(row, 0.99),
            estimated=row.estimated,
            below=[],
            collapsed=0,
        )


def _measured(merged: Sequence[MergedNode], name: str) -> list[tuple[int | None, int | None]]:
    """A total of each node and how far the truth may be above; None: too few requests."""
    drawn = [node.sample for node in merged if node.sample]
    parts = [getattr(of, name) for of in drawn]
    spreads = [
        Spread(of.requests, part.variance, part.squares)
        for of, part in zip(drawn, parts, strict=True)
    ]
    offs = iter(half_widths(spreads))
    return [
        (getattr(node, name), 0)
        if node.sample is None
        else _bounded(getattr(node, name), getattr(node.sample, name).total, next(offs))
        for node in merged
    ]


def _bounded(exact: int, drawn: float, off: float | None) -> tuple[int | None, int | None]:
    if off is None:
        return None, None
    if not drawn and not off:
        return exact, 0
    total = exact + drawn
    high = total * math.exp(min(off / max(total, 1e-9), 700))
    return round(total), round(high - total)


def _quantile(row: Merged, share: float) -> Ns | None:
    found = quantile(dict(row.histogram), share)
    if found is None or row.min is None:
        return found
    return min(max(found, row.min), row.max)


def walk(roots: Sequence[CallNode]) -> Iterator[CallNode]:
    """All nodes, in no order; without recursion, as a tree may be deeper than the stack."""
    left = list(roots)
    while left:
        node = left.pop()
        yield node
        left += node.below


def cut(
    roots: Sequence[CallNode],
    most: int | None = None,
    depth: int = MOST_DEPTH,
    least: float = 0.0,
) -> list[CallNode]:
    """The `most` longest nodes, none below `depth` levels, none that took less than `least` ns.

    Siblings that are left out are one node with all below them. Its time is theirs, all else the
    sum of everything in it: totals stay exact. What was cut once stays as it is when cut again.
    """
    kept: set[int] = set()
    queue: list[tuple[int, int, int, CallNode]] = []
    numbers = count()  # equal times stay in order, and nodes are never compared

    def offer(level: Sequence[CallNode], at: int) -> None:
        for node in level if at <= depth else ():
            if node.scaled >= least and not node.collapsed:
                heapq.heappush(queue, (-node.scaled, next(numbers), at, node))

    offer(roots, 1)
    while queue and (most is None or len(kept) < most):
        _, _, at, node = heapq.heappop(queue)
        kept.add(id(node))
        offer(node.below, at + 1)
    return _level(roots, kept)


def _level(nodes: Sequence[CallNode], kept: set[int]) -> list[CallNode]:
    shown = [
        msgspec.structs.replace(node, below=_level(node.below, kept))
        for node in nodes
        if id(node) in kept
    ]
    rest = [node for node in nodes if id(node) not in kept]
    return [*shown, _collapsed(rest)] if rest else shown


def _collapsed(nodes: Sequence[CallNode]) -> CallNode:
    every = list(walk(nodes))
    number = sum(node.collapsed or 1 for node in every)
    names = ("calls", "self", "bytes", "errors")
    totals = {name: sum(getattr(node, name) or 0 for node in every) for name in names}
    return CallNode(
        layer="",
        op=f"({plural(number, 'node')} more)",
        **totals,
        **dict.fromkeys(("calls_bound", "time_bound", "self_bound", "bytes_bound"), 0),
        min=None,
        max=None,
        p50=None,
        p99=None,
        time=sum(node.time or 0 for node in nodes),
        scaled=sum(node.scaled for node in nodes),
        estimated=any(node.estimated for node in every),
        below=[],
        collapsed=number,
    )
