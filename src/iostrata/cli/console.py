"""Writing to people: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from iostrata.progress import Progress, cost
from iostrata.text import printable


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

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(20),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
    )
    silent = quiet or not sys.stderr.isatty()
    # a step may take minutes: its speed is that of all before it
    line = bars.Progress(
        *columns, console=err, transient=True, disable=silent, speed_estimate_period=3600
    )
    with line:
        task = line.add_task("", total=sum(map(cost, steps)))

        def show(step: str, part: float = 0.0) -> None:
            place = steps.index(step)
            finished = sum(map(cost, steps[:place])) + part * cost(step)
            text = f"{step} ({place + 1}/{len(steps)})"
            line.update(task, description=text, completed=finished, refresh=True)

        yield show


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=True))


def print_table(columns: list[str], rows: list[list[str]], right: set[int] | None = None) -> None:
    """A table without frames; `right` are the columns that hold numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from iostrata.cli.terminal import out

    right = right or set()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, name in enumerate(columns):
        table.add_column(name, justify="right" if position in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # A pipe gets whole lines: cutting names at 80 columns would lose them.
    width = None if sys.stdout.isatty() else 10_000
    console = Console(highlight=False, width=width) if width else out
    console.print(table)
