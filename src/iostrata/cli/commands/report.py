"""iostrata report"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.commands._arguments import (
    JsonOption,
    QuietOption,
    RunArgument,
    StoreOption,
    examples,
)
from iostrata.cli.console import note, print_json, progress
from iostrata.cli.files import whole_file
from iostrata.cli.opening import opened_run
from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata.text import size

if TYPE_CHECKING:
    from iostrata.show.report.model import ReportDocument


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata report                      the latest run, to iostrata-RUN.html",
            "iostrata report -o job.html --open   and opens it in the browser",
            "iostrata report --example            a recorded TeraSort, without any cluster",
            "iostrata report --json | jq .flow    the numbers behind the page",
        )
    )(report)


def report(
    run: RunArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; iostrata-RUN.html here by default."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    example: Annotated[
        bool, typer.Option("--example", help="Show a recorded TeraSort that comes with iostrata.")
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
    made = _example() if example else document_of(run, store, quiet)
    if json:
        print_json(builtins(made))
        return
    path = write_page(made, output or Path(f"iostrata-{made.run.name}.html"))
    print(path)
    if show and not webbrowser.open(path.as_uri()):
        note(f"no browser opened: open {path} yourself")


def document_of(run: str | None, store: Path | None = None, quiet: bool = False) -> ReportDocument:
    """The report's numbers of a run; raises UserError."""
    from iostrata.show.report.document import STEPS, document

    with (
        opened_run(store, run) as opened,
        progress(STEPS, quiet) as step,
    ):
        return document(opened, step)


def write_page(document: ReportDocument, path: Path) -> Path:
    """Writes the page, whole or not at all, and says how large; its absolute path."""
    from iostrata.show.report.page import page

    return write_html(page(document), path, f"report of run {document.run.name}")


def write_html(text: str, path: Path, what: str) -> Path:
    """Writes a page, whole or not at all, and says what it is and how large; its absolute path."""
    path = path.absolute()
    with whole_file(path) as file:
        file.write(text.encode())
    note(f"{what}, {size(len(text.encode()))}")
    return path


def _example() -> ReportDocument:
    from iostrata.show.report.page import example

    return example()
