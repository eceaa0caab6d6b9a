"""A run opened by a command: what of it is missing is said before anything is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iostrata.cli.console import note
from iostrata.store.location import default_store
from iostrata.store.runs import find_run
from iostrata.text import plural

if TYPE_CHECKING:
    from iostrata.api import TracedRun

_MOST_LINES = 8


@contextmanager
def traced_run(store: Path | None, name: str | None, say: bool = True) -> Iterator[TracedRun]:
    """The run of that name, or the latest; raises UserError where nothing of it can be shown.

    Says what is missing, unless the command itself does.
    """
    from iostrata.api import TracedRun
    from iostrata.store.opened import OpenedRun

    with TracedRun(OpenedRun(find_run(store or default_store(), name))) as run:
        if say:
            say_incomplete(run.name, run.incomplete)
        yield run


def say_incomplete(name: str, lines: Sequence[str]) -> None:
    """On standard error, a line each; only the first of many."""
    for line in lines[:_MOST_LINES]:
        note(f"run {name} is incomplete: {line}")
    if len(lines) > _MOST_LINES:
        note(f"run {name} is incomplete: and {plural(len(lines) - _MOST_LINES, 'more line')}")
