"""The words behind `iostrata record`, read without typer.

A recorder is a part of the job that it records, and typer takes three times as long to import as
all else that a recorder does. What has to be explained to a user (--help, a mistake) is typer's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostrata.schema.detail import Detail

BUDGET = "IOSTRATA_BUDGET"  # variable that says --budget


@dataclass
class RecordOptions:
    """What `iostrata record` is asked for, with the defaults of each option."""

    command: list[str] = field(default_factory=list)
    dir: Path | None = None
    lab: str | None = None
    run: str | None = None
    store: Path | None = None
    without_point: list[str] = field(default_factory=list)
    level: str = Detail.level
    budget: str = "1%"
    sampling: str = "1/1"
    points: list[Path] = field(default_factory=list)
    tag: list[str] = field(default_factory=list)
    private: bool = False
    quiet: bool = False
    native: bool = False
    devices: bool = False


FLAGS = {
    **{f"--{name}": name for name in ("native", "devices", "private", "quiet")},
    "-q": "quiet",
}
_NAMES = (
    *("dir", "lab", "run", "store", "tag", "without_point"),
    *("level", "budget", "sampling", "points"),
)
VALUES = {f"--{name.replace('_', '-')}": name for name in _NAMES}
_PATHS = ("dir", "store", "points")


def record_options(words: Sequence[str]) -> RecordOptions | None:
    """The options; None where something is said that typer has to explain."""
    options = RecordOptions(budget=os.environ.get(BUDGET) or RecordOptions.budget)
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        name, equals, value = rest.pop(0).partition("=")
        if name in FLAGS and not equals:
            setattr(options, FLAGS[name], True)
            continue
        if name not in VALUES or not (equals or rest):
            return None
        _set(options, VALUES[name], value if equals else rest.pop(0))
    options.command = rest[1:] if rest[:1] == ["--"] else rest
    return options if options.command else None


def _set(options: RecordOptions, name: str, text: str) -> None:
    value: Any = Path(text) if name in _PATHS else text
    before = getattr(options, name)
    if isinstance(before, list):
        before.append(value)
    else:
        setattr(options, name, value)
