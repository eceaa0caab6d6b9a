"""Writing to people: results on standard output, everything else on standard error."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from iostrata.progress import Progress, cost
from iostrata.text import columns, printable


def complain(message: str, remedy: str = "") -> None:
    """One line: `iostrata: MESSAGE: REMEDY`."""
    line = printable(f"iostrata: {message}" + (f" · {remedy}" if remedy else ""))
    print(line, file=sys.stderr)


def note(message: str) -> None:
    """One line about progress, on standard error."""
    print(printable(f"iostrata: {message}"), file=sys.stderr, flush=True)


@contextmanager
def progress(steps: Sequence[str], quiet: bool) -> Iterator[Progress]:
    """A line on standard error, where that is a terminal and not `quiet`: which of the steps runs,
    for how long already, and how long the rest may take. It leaves when all is done.
    """
    from rich import progress as bars

    from iostrata.cli.terminal import err

    parts = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(20),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
    )
    silent = quiet or not sys.stderr.isatty()
    # a step may take minutes: its speed is that of all before it
    line = bars.Progress(
        *parts, console=err, transient=True, disable=silent, speed_estimate_period=3600
    )
    with line:
        task = line.add_task("", total=sum(map(cost, steps)))

        def show(step: str, part: float = 0.0) -> None:
            place = steps.index(step)
            finished = sum(map(cost, steps[:place])) + part * cost(step)
            text = f"{step} ({place + 1}/{len(steps)})"
            line.update(task, description=text, completed=finished, refresh=True)

        yield show


def terminal_width() -> int:
    """Columns of the terminal that standard output is, or 80."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80


def print_json(value: Any) -> None:
    """One JSON document on standard output, of JSON values and records."""
    import json

    from iostrata.records import builtins

    print(json.dumps(builtins(value), indent=2, ensure_ascii=True))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> None:
    """A table as lines, on a terminal cut to its width; `right` are the columns of numbers."""
    import shutil

    # A pipe gets whole lines: names would be lost.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in columns(header, rows, right):
        print(line if width is None or len(line) <= width else f"{line[: width - 1]}…")
