"""The registry of formats: a new one is one file with `write`, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

from iostrata.errors import UserError
from iostrata.show.export.source import Source

# Writes what a source has; how many calls (or rows) it wrote.
Write = Callable[[Source, BinaryIO], int]


@dataclass(frozen=True)
class Format:
    """`name` is that of the module with `write`; `unit` what a call becomes.

    With `pauses`, those of whole JVMs are calls, too.
    """

    name: str
    suffix: str
    unit: str
    help: str
    pauses: bool = False

    def writer(self) -> Write:
        """Its `write`; loaded only now, as libraries of formats take their time."""
        write: Write = import_module(f"iostrata.show.export.{self.name}").write
        return write


FORMATS = {
    known.name: known
    for known in (
        Format("perfetto", ".pftrace", "slice", "a time line, for ui.perfetto.dev", pauses=True),
        Format("speedscope", ".speedscope.json", "frame", "flame graphs, for speedscope.app"),
        Format("otlp", ".otlp.jsonl", "span", "OpenTelemetry, for Jaeger, Tempo and their like"),
        Format("strace", ".strace", "line", "text as of strace -f -ttt -T -y"),
        Format("csv", ".csv", "row", "a table, RFC 4180"),
    )
}


def find_format(name: str) -> Format:
    """The format of that name; raises UserError."""
    if name not in FORMATS:
        raise UserError(f"no format is called {name!r}", f"one of {', '.join(FORMATS)}")
    return FORMATS[name]
