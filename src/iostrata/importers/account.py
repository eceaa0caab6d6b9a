"""What a reader made of a trace, and what it could not make anything of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# Told now and then: bytes read of a file so far.
Tell = Callable[[int], None]


@dataclass
class Account:
    """Of all files of an import; readers fill it in.

    `unit` is what a file consists of: lines, records. `left_out` counts what was understood and is
    not imported, by reason; `incomplete` says why the trace has no end, or the import not all.
    """

    format: str
    unit: str = "line"
    read: int = 0
    not_understood: int = 0
    first_not_understood: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    incomplete: str = ""
    command: tuple[str, ...] = ()
    exit: int | None = None
    user: str = ""
    # of the whole job, ns since the epoch, where the trace says so; 0: that of its calls
    start: int = 0
    end: int = 0

    def puzzled(self, where: str) -> None:
        """Counts something that was not understood, and remembers where the first was."""
        self.not_understood += 1
        self.first_not_understood = self.first_not_understood or where

    def note(self, text: str) -> None:
        """Something a reader of the run should know; once."""
        if text not in self.notes:
            self.notes.append(text)

    def cut(self, why: str) -> None:
        """The trace ends before its end; the first reason stays."""
        self.incomplete = self.incomplete or why

    @property
    def state(self) -> str:
        """State of the run."""
        if self.incomplete:
            return "incomplete"
        return "failed" if self.exit else "ok"

    def message(self) -> str:
        """One line about what the run is made of, and what is missing."""
        parts = [f"imported from {self.format}"]
        if self.not_understood:
            what = f"{self.not_understood:,} of {self.read:,} {self.unit}s not understood"
            parts.append(f"{what} (the first: {self.first_not_understood})")
        if self.incomplete:
            parts.append(f"incomplete: {self.incomplete}")
        if self.left_out:
            of = ", ".join(f"{count:,} {what}" for what, count in self.left_out.most_common(6))
            parts.append(f"left out: {of}")
        return "; ".join([*parts, *self.notes])

    def facts(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "format": self.format,
            "unit": self.unit,
            "read": self.read,
            "not_understood": self.not_understood,
            "first_not_understood": self.first_not_understood,
            "left_out": dict(self.left_out),
            "incomplete": self.incomplete,
            "notes": self.notes,
        }
