"""iostrata compare"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.commands._arguments import JsonOption, StoreOption, examples
from iostrata.cli.commands.report import write_html
from iostrata.cli.console import note, print_json
from iostrata.cli.opening import opened
from iostrata.errors import UserError
from iostrata.store.location import default_store
from iostrata.store.runs import Run, find_runs

_SIDE = "Name of a run, several with commas, or a pattern like 'before-*'."


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata compare slow fast                      two runs: what differs",
            "iostrata compare 'before-*' 'after-*'           groups: what is more than noise",
            "iostrata compare a1,a2,a3 b1,b2,b3 --all        every row",
            "iostrata compare 'before-*' 'after-*' -o c.html as a page that needs no network",
        )
    )(compare)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=_SIDE)],
    second: Annotated[str, typer.Argument(metavar="B", help="The same, of what it became.")],
    every: Annotated[bool, typer.Option("--all", help="All rows, not the first of each.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Writes an HTML page to this file.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """What changed from A to B, by layer, operation, category, phase and target.

    Each of them is a run, or repeats of one: only repeats tell a change from noise, and with two or
    more a side every row has an interval and a verdict. Rows that explain most time come first.
    """
    from iostrata.show.compare.differences import compare as compared
    from iostrata.show.compare.lines import comparison_lines
    from iostrata.show.compare.measured import Measured, measured

    place = store or default_store()
    sides = [find_runs(place, names) for names in (first, second)]
    _check_apart(sides[0], sides[1])

    def read(run: Run) -> Measured:
        if sys.stderr.isatty():
            note(f"reading run {run.name}")
        with opened(run) as found:
            return measured(found)

    found = compared([read(run) for run in sides[0]], [read(run) for run in sides[1]])
    if json:
        print_json(found.as_dict())
    elif output is None:
        print("\n".join(comparison_lines(found, every)))
    if output is not None:
        from iostrata.show.compare.page import comparison_page

        path = write_html(comparison_page(found, first, second), output, f"{first} and {second}")
        note(f"written to {path}") if json else print(path)


def _check_apart(first: list[Run], second: list[Run]) -> None:
    both = {run.name for run in first} & {run.name for run in second}
    if both:
        raise UserError(f"run {min(both)} is on both sides", "name it on one of them")
