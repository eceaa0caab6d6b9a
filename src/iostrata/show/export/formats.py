"""The registry of formats: a new format is one file with `write`, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO

from iostrata.registry import Registry
from iostrata.show.export.source import Source

# Writes what a source has; how many calls (or rows) it wrote.
Write = Callable[[Source, BinaryIO], int]


@dataclass(frozen=True)
class ExportFormat:
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


FORMATS = Registry(
    "format",
    (
        ExportFormat(
            "perfetto", ".pftrace", "slice", "a time line, for ui.perfetto.dev", pauses=True
        ),
        ExportFormat("speedscope", ".speedscope.json", "frame", "flame graphs, for speedscope.app"),
        ExportFormat(
            "otlp", ".otlp.jsonl", "span", "OpenTelemetry, for Jaeger, Tempo and their like"
        ),
        ExportFormat("strace", ".strace", "line", "text as of strace -f -ttt -T -y"),
        ExportFormat("csv", ".csv", "row", "a table, RFC 4180"),
    ),
)
