"""iostrata import"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import StoreOption, command
from iostrata.cli.console import note, progress
from iostrata.importers.formats import FORMATS, import_files
from iostrata.record.session import new_run_name
from iostrata.store.location import default_store
from iostrata.store.runs import find_run
from iostrata.text import plural, size


@command(
    "iostrata import job.darshan                    and then: iostrata summary",
    "iostrata import trace-*.pfw.gz --run training  one run of all processes",
    "strace -f -ttt -T -y -o trace.txt ./job; iostrata import trace.txt",
    name="import",
)
def import_(
    files: Annotated[
        list[Path], typer.Argument(help="The trace files of one job, all in one format.")
    ],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(help=f"{', '.join(FORMATS)}; by default the format is recognised."),
    ] = None,
    run: Annotated[str | None, typer.Option(help="The name of the new run.")] = None,
    store: StoreOption = None,
) -> None:
    """Makes a run from the traces of another tool: Darshan, DFTracer or strace.

    All commands that read runs can read it. Its note says how much of the trace was not understood.
    Then it says what held the run back, as far as such a trace can tell.
    """
    from iostrata.cli.opening import traced_run
    from iostrata.explain.rank import RULE_STEPS, not_asked
    from iostrata.show.findings import short_lines

    where, name = store or default_store(), run or new_run_name()
    with progress(("import",), quiet=False) as step:
        path = import_files(files, format, where, name, step)
    made = find_run(where, name)
    note(f"run {name}: {plural(made.events, 'row')}, {size(made.bytes)}; {made.message}")
    print(path)
    with traced_run(where, name) as traced, progress(RULE_STEPS, quiet=False) as step:
        explained = traced.explain(step)
    for line in (*short_lines(explained), not_asked(made)):
        note(line)
