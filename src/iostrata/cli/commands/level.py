"""iostrata level"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.commands._arguments import JsonOption, StoreOption, examples
from iostrata.cli.console import note, print_json
from iostrata.errors import UserError
from iostrata.record.collector import collector_of
from iostrata.record.protocol import change_level, read_progress
from iostrata.schema.names import check_level, left_out
from iostrata.show.text import plural
from iostrata.store.location import default_store
from iostrata.store.runs import find_run

# Agents look five times a second, the collector says once a second what they have done.
PATIENCE = 3.0


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata level nightly task    fewer calls one by one, from now on",
            "iostrata level nightly record --json",
        )
    )(level)


def level(
    run: Annotated[str, typer.Argument(help="Name of a run that is being recorded.")],
    level: Annotated[str, typer.Argument(help="record, thread, phase, task or job.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Changes how much of a run that is being recorded is kept one by one.

    LEVEL is record, thread, phase, task or job, each keeping less than the one before. What is not
    kept one by one is still in all totals.
    """
    wanted = check_level(level)
    found = find_run(store or default_store(), run)
    collector = collector_of(Path(found.collector)) if found.collector else None
    if found.state != "recording" or collector is None:
        raise UserError(f"run {run} is not being recorded: {found.state}", "iostrata runs")
    change_level(collector, found.name, wanted)
    deadline = time.monotonic() + PATIENCE
    progress = read_progress(collector, found.name)
    while time.monotonic() < deadline and (progress.level != wanted or progress.behind):
        time.sleep(0.05)
        progress = read_progress(collector, found.name)
    if json:
        print_json({"run": found.name, "level": progress.level, "behind": progress.behind})
        return
    if progress.level != wanted:
        raise UserError(f"the collector of {collector.dir} did not answer", "iostrata doctor")
    out = left_out(wanted)
    note(f"run {found.name}: level {wanted}" + (f", {out} only in sums" if out else ""))
    if progress.behind:
        note(f"{plural(progress.behind, 'process')} did not answer yet")
