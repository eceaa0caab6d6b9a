"""The call tree of a run as text."""

from __future__ import annotations

from msgspec.structs import asdict

from iostrata.analyse.calltree.trees import CallNode, cut
from iostrata.text import columns, count, near, seconds, size


def tree_lines(roots: list[CallNode], depth: int, least: float) -> list[str]:
    """The tree, indented; nodes deeper than `depth`, or shorter than `least`, are only counted.

    `least` is a share of the time of all roots.
    """
    cells: list[list[str]] = []
    texts = {"calls": count, "time": seconds, "self": seconds, "bytes": size}

    def show(level: list[CallNode], indent: int) -> None:
        for node in level:
            known = asdict(node)
            numbers = [near(known[key], known[f"{key}_bound"], text) for key, text in texts.items()]
            cells.append([f"{'  ' * indent}{node.name}", *("" for _ in texts)])
            if not node.collapsed:
                cells[-1][1:] = numbers
            show(node.below, indent + 1)

    show(cut(roots, depth=depth, least=least * sum(node.scaled for node in roots)), 0)
    names = ["call tree", "calls", "time of all threads", "self", "bytes"]
    return columns(names, cells, range(1, 5))
