"""What a reader made of the files of an import, and what it could not understand."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from iostrata.progress import Progress, silent
from iostrata.records import Count, Record
from iostrata.store.facts import CountedFile

MOST_FILES = 16


class ImportFacts(Record, frozen=True):
    """Fact `source` of an imported run: how many units (lines, records) were read of which files,
    how many were not understood, and where the first of them was.

    `left_out` counts what was understood and is not imported, by reason; `incomplete` says why the
    trace has no end, or why not all of it was imported. `counted`: MOST_FILES that took longest.
    """

    format: str
    unit: str
    read: Count
    not_understood: Count
    first_not_understood: str
    left_out: dict[str, Count]
    incomplete: str
    notes: list[str]
    files: list[str]
    counted: list[CountedFile]


@dataclass
class ImportAccount:
    """Readers fill it in; most fields are those of `ImportFacts`."""

    format: str
    files: list[Path]
    progress: Progress = silent
    unit: str = "line"
    read: int = 0
    not_understood: int = 0
    first_not_understood: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    counted: list[CountedFile] = field(default_factory=list)
    incomplete: str = ""
    command: tuple[str, ...] = ()
    exit: int | None = None
    user: str = ""
    # of the whole job, ns since the epoch, where the trace says so; 0: that of its calls
    start: int = 0
    end: int = 0

    def reached(self, path: Path, position: int) -> None:
        """Bytes up to `position` of a file have been read."""
        sizes = [file.stat().st_size for file in self.files if file.is_file()]
        before = sum(sizes[: self.files.index(path)])
        self.progress("import", min(1.0, (before + position) / max(1, sum(sizes))))

    def took_longest(self, files: Iterable[CountedFile]) -> None:
        """Keeps those files that took longest, of all logs."""
        every = (*self.counted, *files)
        self.counted = heapq.nlargest(MOST_FILES, every, key=lambda file: file.time)

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
            most = self.left_out.most_common(6)
            parts.append(f"left out: {', '.join(f'{count:,} {what}' for what, count in most)}")
        return "; ".join([*parts, *self.notes])

    def facts(self) -> ImportFacts:
        """The same as a fact of the run."""
        same = {name: getattr(self, name) for name in ImportFacts.__struct_fields__}
        return ImportFacts(**same | {"files": [str(path.absolute()) for path in self.files]})
