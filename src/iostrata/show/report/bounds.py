"""What a document may hold at most: whatever the trace, the page stays a file that one can mail.

Every list has its most rows. Where names are so long or so strange that the document is still too
large, names are cut further, then lists are halved; what is left out is counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from iostrata.show.report.encoded import encoded
from iostrata.show.totals import Row

MOST_BYTES = 2_500_000  # of a document as the page holds it
# Rows of a list at most; the first are kept, of the critical path the longest.
MOST_TARGETS = 400
MOST_TASKS = 600
MOST_ROWS = 400  # categories, waits, operations, sizes
MOST_PROCESSES = 200  # and lines on what is missing
MOST_HOSTS = 24
MOST_FINDINGS = 40
MOST_EVIDENCE = 20  # and changes, each finding
MOST_PARTS = 2000  # of the critical path
MOST_FUNCTIONS = 200
MOST_PHASES = 12  # each task
MOST_NODES = 2000  # of the call tree
MOST_DEPTH = 48
_NAME = 300  # characters
# Prose is longer than names.
_LONGER = {"command": 7, "why": 4, "seen": 4, "unless": 4, "detail": 4, "text": 4, "message": 4}
_QUERY = 100  # times a name
# Done in order until the document fits: characters of a name, what the most rows are divided by.
_STEPS = ((_NAME, 1), (120, 1), (60, 1), (60, 2), (30, 4), (30, 8), (20, 32))


def fitted(document: Row, most: int = MOST_BYTES) -> Row:
    """The document within its bounds and, as the page holds it, within `most` bytes."""
    made = document
    for characters, divisor in _STEPS:
        made = _named(_listed(made, divisor), "", characters)
        if len(encoded(made)) <= most:
            break
    return made


def shortened(text: str, most: int = _NAME) -> str:
    """The text without its middle: a path may have 8,000 characters."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def _named(value: Any, key: str, most: int) -> Any:
    """The value with every name in it cut."""
    if key == "query":  # SQL without its middle is none
        return value if len(value) <= _QUERY * most else ""
    if isinstance(value, str):
        return shortened(value, most * _LONGER.get(key, 1))
    if isinstance(value, list):
        return [_named(item, key, most) for item in value]
    if isinstance(value, dict):
        return {name: _named(item, name, most) for name, item in value.items()}
    return value


def _listed(document: Row, divisor: int) -> Row:
    """The document with every list cut to its most rows over `divisor`."""
    made = dict(document)
    lists = {"targets": MOST_TARGETS, "tasks": MOST_TASKS}
    for name in ("targets", "tasks", "categories", "waits"):
        made[name] = _first(made[name], "rows", lists.get(name, MOST_ROWS) // divisor)
    tasks = made["tasks"]["rows"]
    phases = [{**row, "phases": row["phases"][: MOST_PHASES // divisor + 1]} for row in tasks]
    made["tasks"] |= {"rows": phases}
    made["system"] = _first(made["system"], "hosts", MOST_HOSTS // divisor + 1)
    for name in ("ops", "sizes"):
        made[name] = made[name][: MOST_ROWS // divisor]
    made["completeness"] = _completeness(made["completeness"], MOST_PROCESSES // divisor)
    if "findings" in made:
        found = made["findings"][:MOST_FINDINGS]
        made["findings"] = [_finding(row, MOST_EVIDENCE // divisor + 1) for row in found]
    if "tree" in made:
        made["tree"] = folded(made["tree"], MOST_NODES // divisor)
    if "critical" in made:
        made["critical"] = _critical(made["critical"], divisor)
    return made


def _first(bounded: Row, rows: str, most: int) -> Row:
    left = max(0, len(bounded[rows]) - most)
    return bounded | {rows: bounded[rows][:most], "more": bounded["more"] + left}


def _completeness(found: Row, most: int) -> Row:
    left = max(0, len(found["lines"]) - most)
    return found | {
        "lines": found["lines"][:most],
        "more_lines": found["more_lines"] + left,
        "incomplete": found["incomplete"][:most],
        "faulted_points": found["faulted_points"][:most],
        "processes": _first(found["processes"], "rows", most),
    }


def _finding(row: Row, most: int) -> Row:
    return row | {"evidence": row["evidence"][:most], "change": row["change"][:most]}


def _critical(path: Row, divisor: int) -> Row:
    """Its longest parts, in order of time."""
    longest = heapq.nlargest(
        MOST_PARTS // divisor, path["parts"], key=lambda row: row["end"] - row["start"]
    )
    return path | {
        "parts": sorted(longest, key=lambda row: row["start"]),
        "more": path["more"] + len(path["parts"]) - len(longest),
        "by_function": path["by_function"][: MOST_FUNCTIONS // divisor],
    }


def folded(tree: list[Row], most: int) -> list[Row]:
    """The tree with its `most` largest nodes, none deeper than MOST_DEPTH.

    What is left out below a node is one node with `folded`, their number: sums stay what they were.
    """
    top: Row = {"below": []}
    waiting: list[tuple[int, int, Row, Row, int]] = []
    hidden: dict[int, tuple[Row, list[Row]]] = {}
    made = 0

    def offer(parent: Row, below: list[Row], depth: int) -> None:
        nonlocal made
        for node in below:
            made += 1  # equal totals stay in order, and rows are never compared
            heapq.heappush(waiting, (-node["total"], made, node, parent, depth))

    def hide(parent: Row, nodes: list[Row]) -> None:
        if nodes:
            hidden.setdefault(id(parent), (parent, []))[1].extend(nodes)

    offer(top, tree, 1)
    for _ in range(most):
        if not waiting:
            break
        _, _, node, parent, depth = heapq.heappop(waiting)
        kept = node | {"below": []}
        parent["below"].append(kept)
        if depth < MOST_DEPTH:
            offer(kept, node["below"], depth + 1)
        else:
            hide(kept, node["below"])
    for _, _, node, parent, _ in waiting:
        hide(parent, [node])
    for parent, nodes in hidden.values():
        parent["below"].append(_others(nodes))
    below: list[Row] = top["below"]
    return below


def _others(nodes: list[Row]) -> Row:
    """One node for all these and what is below them; its calls and total are those of `nodes`."""
    every = list(_all(nodes))
    none: Row = dict.fromkeys(("min", "max", "p50", "p99"), 0) | {"below": []}
    return {
        **dict.fromkeys(("name", "layer", "op"), ""),
        **{name: sum(node[name] for node in nodes) for name in ("calls", "total")},
        **{name: sum(node[name] for node in every) for name in ("self", "bytes", "errors")},
        **none,
        "folded": sum(node.get("folded", 1) for node in every),
    }


def _all(nodes: list[Row]) -> Iterator[Row]:
    """Without recursion: a tree may be deeper than Python's stack."""
    left = list(nodes)
    while left:
        node = left.pop()
        yield node
        left.extend(node["below"])
