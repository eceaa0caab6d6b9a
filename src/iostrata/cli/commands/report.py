"""iostrata report"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    command,
)
from iostrata.cli.console import note, print_json, progress
from iostrata.cli.files import whole_file
from iostrata.cli.opening import traced_run
from iostrata.errors import UserError
from iostrata.text import size

if TYPE_CHECKING:
    from iostrata.api import Report


@command(
    "iostrata report                      the latest run, to iostrata-RUN.html",
    "iostrata report -o job.html --open   and opens it in the browser",
    "iostrata report --example            a recorded WordCount, without any cluster",
    "iostrata report --json | jq .flow    the numbers behind the page",
)
def report(
    run: RunArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; iostrata-RUN.html here by default."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    example: Annotated[
        bool, typer.Option("--example", help="Show a recorded WordCount that comes with iostrata.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Writes a run as one HTML file that needs no network.

    It holds aggregates and never events, so its size does not grow with the trace.
    """
    if example and run is not None:
        raise UserError(f"--example shows its own run, not {run}", "leave one of the two out")
    page = _example() if example else _report(run, store, quiet)
    if json:
        print_json(page.document)
        return
    path = write_page(page, output)
    print(path)
    if show and not webbrowser.open(path.as_uri()):
        note(f"no browser opened: open {path} yourself")


def _report(run: str | None, store: Path | None, quiet: bool) -> Report:
    from iostrata.show.report.document import STEPS

    with traced_run(store, run) as traced, progress(STEPS, quiet) as step:
        return traced.report(step)


def _example() -> Report:
    from iostrata.api import Report
    from iostrata.show.report.page import example

    return Report(example())


def write_page(page: Report, path: Path | None = None) -> Path:
    """Writes the page, whole or not at all, and says how large; its absolute path."""
    name = page.document.run.name
    return write_html(page.html, path or Path(f"iostrata-{name}.html"), f"report of run {name}")


def write_html(text: str, path: Path, what: str) -> Path:
    """Writes a page, whole or not at all, and says what it is and how large; its absolute path."""
    path = path.absolute()
    with whole_file(path) as file:
        file.write(text.encode())
    note(f"{what}, {size(len(text.encode()))}")
    return path
