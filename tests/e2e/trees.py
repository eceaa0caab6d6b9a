"""Calls of a run as trees: a parent is in the same thread, another one, or another process."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from tests.e2e.truth import Run

COLUMNS = (
    "proc", "span", "parent", "parent_proc", "trace", "role", "tid", "layer", "op", "target",
    "block", "bytes", "kind",
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    proc: int
    span: int
    parent: int | None
    parent_proc: int | None
    trace: int
    role: str
    tid: int
    layer: str
    op: str
    target: str | None
    block: int | None
    bytes: int
    kind: str

    @property
    def name(self) -> str:
        return f"{self.layer}.{self.op}"


class Tree:
    """All calls of a run, by parent."""

    def __init__(self, run: Run) -> None:
        rows = run.rows(
            f"SELECT {', '.join(COLUMNS)} FROM events WHERE kind IN ('call', 'unfinished', 'link')"
            " ORDER BY start"
        )
        found = [Call(*row) for row in rows]
        self.calls = [call for call in found if call.kind != "link"]
        self._links = [call for call in found if call.kind == "link"]
        self._by_id: dict[tuple[int, int | None], Call] = {
            (call.proc, call.span): call for call in self.calls
        }
        self._roles = {call.proc: call.role for call in self.calls}
        self._of: dict[tuple[int, int | None], list[Call]] = defaultdict(list)
        for call in self.calls:
            self._of[call.parent_proc or call.proc, call.parent].append(call)

    def children(self, call: Call) -> list[Call]:
        return self.children_of(call.span, call.proc)

    def children_of(self, span: int | None, proc: int) -> list[Call]:
        """Of a span; of the process itself where it is None."""
        return self._of[proc, span]

    def named(self, role: str, layer: str, op: str) -> list[Call]:
        return [c for c in self.calls if (c.role, c.layer, c.op) == (role, layer, op)]

    def path(self, role: str, *steps: str) -> Call:
        """The call at the end of a path of steps that begins at a process of that role."""
        (proc,) = {call.proc for call in self.calls if call.role == role}
        firsts = [c for c in self.children_of(None, proc) if c.name == steps[0]]
        return self._walk(firsts, steps)

    def path_from(self, call: Call, *steps: str) -> Call:
        """As `path`, from a call; a step may begin with the role of the next process."""
        return self._walk(self._matching(call, steps[0]), steps)

    def _walk(self, firsts: list[Call], steps: tuple[str, ...]) -> Call:
        reached = firsts
        for step in steps[1:]:
            reached = [found for call in reached for found in self._matching(call, step)]
        assert reached, f"no path {' / '.join(steps)}"
        return reached[0]

    def _matching(self, call: Call, step: str) -> list[Call]:
        role, _, name = step.rpartition(" ")
        return [
            child
            for child in self.children(call)
            if child.name == name and child.role == (role or call.role)
        ]

    def orphans(self, root: int) -> Counter[str]:
        """Calls of other processes, by layer, whose way up does not end in process `root`."""
        others = [call for call in self.calls if call.proc != root]
        return Counter(call.layer for call in others if self.top(call) != root)

    def way_up(self, call: Call) -> list[Call]:
        """The call, what it was made for, what that was made for, as far as it is known."""
        way = [call]
        while above := self._by_id.get((way[-1].parent_proc or way[-1].proc, way[-1].parent)):
            way.append(above)
        return way

    def top(self, call: Call) -> int | None:
        """The process from which the call's way up hangs; None: the way is broken."""
        last = self.way_up(call)[-1]
        return last.parent_proc or last.proc if last.parent is None else None

    def origin(self, call: Call) -> str:
        """Role of the process from which the call's way up hangs; empty: the way is broken."""
        return self._roles.get(self.top(call) or 0, "")

    def links(self) -> Counter[tuple[str, str]]:
        return Counter((link.layer, link.op) for link in self._links)
