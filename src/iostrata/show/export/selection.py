"""Which rows of a run are exported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iostrata.errors import UserError
from iostrata.schema.events import LAYER

# Options that choose rows, by table: a sum has no moment, a host no job. Tables whose rows are
# seconds have their begin and length by other names.
TABLES = {
    "calls": ("--from", "--to", "--job", "--task", "--layer"),
    "sums": ("--job", "--task", "--layer"),
    "processes": ("--job", "--task"),
    "children": (),
    "threads": (),
    "usage": ("--from", "--to"),
    "system": ("--from", "--to"),
    "devices": ("--from", "--to"),
}
_SECONDS = ("usage", "system", "devices")
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Selection:
    """Rows of `table` that meet all that is given.

    `begin`, `end`: seconds of the run; what only overlaps them is in, too.
    """

    table: str = "calls"
    begin: float | None = None
    end: float | None = None
    job: str | None = None
    task: str | None = None
    layers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.table not in TABLES:
            raise UserError(f"no table is called {self.table!r}", f"one of {', '.join(TABLES)}")
        for layer in self.layers:
            if layer not in LAYER:
                raise UserError(f"no layer is called {layer!r}", f"one of {', '.join(LAYER)}")
        for option in self.given():
            if option not in TABLES[self.table]:
                raise UserError(
                    f"{option} does not apply to the table {self.table}",
                    f"it has {', '.join(TABLES[self.table])}",
                )
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise UserError(f"--from {self.begin:g} is not before --to {self.end:g}")

    def given(self) -> dict[str, str | float]:
        """The options that choose, with their values."""
        options = {
            "--from": self.begin,
            "--to": self.end,
            "--job": self.job,
            "--task": self.task,
            "--layer": ", ".join(self.layers) or None,
        }
        return {option: value for option, value in options.items() if value is not None}

    @property
    def windowed(self) -> bool:
        """Not all of the time is wanted."""
        return self.begin is not None or self.end is not None

    def where(self, start: int) -> tuple[str, list[Any]]:
        """Its condition in SQL, with parameters; `start` of the run in ns since the epoch."""
        begin, length = ("time", '"interval"') if self.table in _SECONDS else ("start", "dur")
        chosen: list[tuple[str, Any]] = []
        if self.begin is not None:
            chosen.append((f"{begin} + {length} >= ?", start + round(self.begin * _SECOND)))
        if self.end is not None:
            chosen.append((f"{begin} < ?", start + round(self.end * _SECOND)))
        if self.job is not None:
            chosen.append(("job = ?", self.job))
        if self.task is not None:
            chosen.append(("task = ?", self.task))
        if self.layers:
            chosen.append(("list_contains(?, layer)", list(self.layers)))
        conditions = " AND ".join(condition for condition, _ in chosen)
        return conditions or "true", [value for _, value in chosen]
