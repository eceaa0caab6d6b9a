"""Call trees of a run as the native binary merges them: documents, and nodes made of them.

Calls whose parent is of another thread, process or host hang from it. What exists only in sums
hangs as a leaf from the task, phase, block or RPC around it, so a tree has as many calls and bytes
of each operation as the sums of the run. Where only some requests were kept, their calls are scaled
back and have bounds. docs/decisions/0014-call-trees.md.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from iostrata.analyse import sample
from iostrata.analyse.buckets import quantile
from iostrata.analyse.sample import Row
from iostrata.artifacts import native_binary
from iostrata.errors import UserError
from iostrata.progress import Progress, silent
from iostrata.store.opened import OpenedRun
from iostrata.text import plural

ORDERS = ("paths", "sets", "runs")
# Deeper calls are put together: whoever reads JSON has a stack.
MOST_DEPTH = 200

_MEASURES = {"calls": "calls", "time": "total", "self": "self", "bytes": "bytes"}


@dataclass(frozen=True)
class Choice:
    """How trees are made: `order` of ORDERS, `by` op or point, patterns or files of them."""

    order: str = "paths"
    by: str = "op"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Those of `iostrata-native calltree`."""
        keep = [f"--keep={pattern}" for pattern in self.keep]
        drop = [f"--drop={pattern}" for pattern in self.drop]
        return [f"--order={self.order}", f"--by={self.by}", *keep, *drop]


@dataclass
class Node:
    """Calls that share a place in a tree.

    `totals`: calls, time, self (ns), bytes, each with NAME_bound; None where too few requests were
    drawn. `time` is the same scaled up whatever it is worth, for order and pruning only.
    `facts`: errors, min, max, p50, p99 (ns; None where not known), estimated (from sampled clocks).
    A node without layer stands for `op` more that are not shown.
    """

    layer: str
    op: str
    time: float = 0.0
    totals: Row = field(default_factory=lambda: dict.fromkeys(_MEASURES, 0))
    facts: Row = field(default_factory=dict)
    below: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        """`layer.op`."""
        return f"{self.layer}.{self.op}" if self.layer else self.op

    def as_dict(self) -> Row:
        """JSON values, with what is below."""
        return {
            "layer": self.layer,
            "op": self.op,
            **self.totals,
            **self.facts,
            "below": [node.as_dict() for node in self.below],
        }


def document(opened: OpenedRun, choice: Choice | None = None, progress: Progress = silent) -> Row:
    """What `iostrata-native calltree` says of the run, the step "call tree"; raises UserError."""
    arguments = [*(choice or Choice()).arguments(), f"--memory={opened.memory}"]
    return native(opened, arguments, "call tree", progress)


def native(
    opened: OpenedRun, arguments: Sequence[str], step: str = "", progress: Progress = silent
) -> Row:
    """The document of `iostrata-native calltree --run RUN ARGUMENTS`; raises UserError.

    `progress` is called as the step begins, and whenever the part that is finished has grown by a
    percent.
    """
    progress(step)
    command = [str(native_binary()), "calltree", "--run", str(opened.run.path.resolve())]
    command += [f"--skip={path}" for path in opened.skipped]
    command += [*arguments, *([] if progress is silent else ["--progress"])]
    lines = ["it said nothing"]
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as child,
    ):
        try:
            for line in child.stderr or ():
                if progress is not silent and line.startswith("{"):
                    progress(step, json.loads(line)["percent"] / 100)
                else:
                    lines.append(line.strip())
        except BaseException:  # Ctrl-C may have reached us alone
            child.kill()
            raise
        if child.wait() != 0:
            raise UserError(f"call trees: {lines[-1].removeprefix('iostrata-native: ')}")
        out.seek(0)
        found: Row = json.load(out)
    return found


def nodes_of(opened: OpenedRun, found: Row) -> list[Node]:
    """The roots of a document with all below; longest first (runs: in their order)."""
    rows = found["nodes"]
    _estimate(opened, rows)
    nodes: dict[str, Node] = {}
    roots: list[Node] = []
    for row in rows:
        node = Node(row["layer"], row["op"], row["scaled"], row["totals"], _facts(row))
        nodes[row["id"]] = node
        above = nodes.get(row["parent"] or "")
        (roots if above is None else above.below).append(node)
    longest = _longest if found["order"] != "runs" else _as_it_was
    roots.sort(key=_longest)
    for node in nodes.values():
        node.below.sort(key=longest)
    return roots


def _longest(node: Node) -> Any:
    return (-node.time, node.layer, node.op)


def _as_it_was(_: Node) -> Any:
    return 0


def _facts(row: Row) -> Row:
    counts = dict(row["histogram"])
    known = {"p50": quantile(counts, 0.5), "p99": quantile(counts, 0.99)}
    for name, value in known.items():
        if value is not None and row["min"] is not None:
            known[name] = min(max(value, row["min"]), row["max"])
    longest = row["max"] if row["min"] is not None else None
    same = {"errors": row["errors"], "min": row["min"], "max": longest, **known}
    return same | {"estimated": row["estimated"]}


def _estimate(opened: OpenedRun, rows: list[Row]) -> None:
    """Adds `totals` with bounds, and the time `scaled`, to each row."""
    sampled = [row for row in rows if "sample" in row]
    offs: dict[str, list[float | None]] = {}
    for name, of in _MEASURES.items():
        parts = [row["sample"][of] for row in sampled]
        offs[name] = sample.bounds(
            opened,
            [row["sample"]["requests"] for row in sampled],
            [part["variance"] for part in parts],
            [part["squares"] for part in parts],
        )
    place = {id(row): at for at, row in enumerate(sampled)}
    for row in rows:
        row["totals"] = {}
        row["scaled"] = row["total"] + (row["sample"]["total"]["total"] if "sample" in row else 0)
        for name, of in _MEASURES.items():
            total, off = float(row[of]), 0.0
            if "sample" in row:
                total += row["sample"][of]["total"]
                known = offs[name][place[id(row)]]
                off = math.nan if known is None else known / max(total, 1e-9)
            row["totals"] |= _bounded(name, row[of], total, off)


def _bounded(name: str, exact: int, total: float, off: float) -> Row:
    if off == 0 and total == exact:
        return {name: exact, f"{name}_bound": 0}
    unknown = math.isnan(off)
    high = total * math.exp(min(off, 700)) if not unknown else None
    return sample.bounded(name, {"value": None if unknown else total, "high": high})


def walk(roots: Sequence[Node]) -> Iterator[Node]:
    """All nodes, in no order."""
    open_nodes = list(roots)
    while open_nodes:
        node = open_nodes.pop()
        yield node
        open_nodes += node.below


def number(roots: Sequence[Node]) -> int:
    """Of nodes."""
    return sum(1 for _ in walk(roots))


def cut(roots: list[Node], kept: set[int]) -> list[Node]:
    """The nodes whose id() is in `kept`; siblings that are not, and all below them, are one node.

    Its time is that of these siblings, all else the sum of everything in it: totals stay exact.
    """

    def level(nodes: list[Node]) -> list[Node]:
        gone = [node for node in nodes if id(node) not in kept]
        return [node for node in nodes if id(node) in kept] + ([_rest(gone)] if gone else [])

    for node in [node for node in walk(roots) if id(node) in kept]:
        node.below = level(node.below)
    return level(roots)


def _rest(gone: list[Node]) -> Node:
    every = list(walk(gone))
    totals: Row = {}
    for name in _MEASURES:
        of = gone if name == "time" else every
        totals[name] = sum(node.totals[name] or 0 for node in of)
        totals[f"{name}_bound"] = 0
    facts: Row = dict.fromkeys(("min", "max", "p50", "p99"))
    facts["errors"] = sum(node.facts.get("errors", 0) for node in every)
    facts["estimated"] = any(node.facts.get("estimated", False) for node in every)
    name = f"({plural(len(every), 'node')} more)"
    return Node("", name, sum(node.time for node in gone), totals, facts)


def shallow(roots: list[Node]) -> list[Node]:
    """Without what is deeper than MOST_DEPTH, which is put together."""
    kept: set[int] = set()
    level, depth = roots, 0
    while level and depth < MOST_DEPTH:
        kept |= {id(node) for node in level}
        level, depth = [below for node in level for below in node.below], depth + 1
    return cut(roots, kept) if level else roots
