"""iostrata import"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from iostrata.cli.commands._arguments import StoreOption, examples
from iostrata.cli.console import note
from iostrata.cli.terminal import err
from iostrata.importers.formats import FORMATS, import_files
from iostrata.record.session import new_run_name
from iostrata.store.location import default_store
from iostrata.store.runs import find_run
from iostrata.text import plural, size


def register(app: typer.Typer) -> None:
    app.command(
        "import",
        epilog=examples(
            "iostrata import job.darshan                    and then: iostrata summary",
            "iostrata import trace-*.pfw.gz --run training  one run of all processes",
            "strace -f -ttt -T -y -o trace.txt ./job; iostrata import trace.txt",
        ),
    )(import_)


def import_(
    files: Annotated[list[Path], typer.Argument(help="Trace files of one job, all of one format.")],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(help=f"{', '.join(FORMATS)}; recognised by what is in the files by default."),
    ] = None,
    run: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    store: StoreOption = None,
) -> None:
    """Makes a run of what another tool traced: a Darshan log, DFTracer's events, strace's lines.

    All that reads runs reads it then. What was not understood is counted in its note.
    """
    where, name = store or default_store(), run or new_run_name()
    with _progress() as progress:
        total = sum(path.stat().st_size for path in files if path.is_file())
        bar = progress.add_task("import", total=total)
        begun = [0] * len(files)

        def seen(number: int, done: int) -> None:
            begun[number] = done
            progress.update(bar, completed=sum(begun))

        path = import_files(files, format, where, name, seen)
    made = find_run(where, name)
    note(f"run {name}: {plural(made.events, 'row')}, {size(made.bytes)}; {made.message}")
    print(path)


def _progress() -> Progress:
    """Of bytes read; nothing where standard error is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
