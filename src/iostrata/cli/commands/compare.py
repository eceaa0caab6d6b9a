"""iostrata compare"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.commands.report import write_html
from iostrata.cli.console import note, print_json
from iostrata.cli.opening import traced_run
from iostrata.errors import UserError
from iostrata.store.location import default_store
from iostrata.store.runs import Run, find_runs

_SIDE = "A run, several runs with commas between them, or a pattern such as 'before-*'."


@command(
    "iostrata compare slow fast                       two runs",
    "iostrata compare 'before-*' 'after-*'            two groups of repeats",
    "iostrata compare a1,a2,a3 b1,b2,b3 --all         all rows",
    "iostrata compare 'before-*' 'after-*' -o c.html  one page that needs no network",
)
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=_SIDE)],
    second: Annotated[str, typer.Argument(metavar="B", help="The same, for the other side.")],
    every: Annotated[bool, typer.Option("--all", help="Show all rows of each table.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML page to this file.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compares two runs, or two groups of runs, by layer, operation, category, phase and target.

    Only repeats tell a change from noise. With two or more runs on each side every row has an
    interval and a verdict. The rows whose change explains the most time come first.
    """
    from iostrata.analyse.comparison import compare as compare_runs
    from iostrata.analyse.measured import Measured, measured
    from iostrata.show.compare.lines import comparison_lines

    place = store or default_store()
    sides = [find_runs(place, names) for names in (first, second)]
    _check_apart(sides[0], sides[1])

    def read(run: Run) -> Measured:
        if sys.stderr.isatty():
            note(f"reading run {run.name}")
        with traced_run(place, run.name) as traced:
            return measured(traced.opened)

    before, after = ([read(run) for run in runs] for runs in sides)
    comparison = compare_runs(before, after, (first, second))
    if json:
        print_json(comparison)
    elif output is None:
        print("\n".join(comparison_lines(comparison, every)))
    if output is not None:
        from iostrata.show.compare.page import comparison_page

        path = write_html(comparison_page(comparison), output, f"{first} and {second}")
        note(f"written to {path}") if json else print(path)


def _check_apart(first: list[Run], second: list[Run]) -> None:
    both = {run.name for run in first} & {run.name for run in second}
    if both:
        raise UserError(f"run {min(both)} is on both sides", "name it on one of them")
