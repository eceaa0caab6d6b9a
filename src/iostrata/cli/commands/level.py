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
from iostrata.record.protocol import Progress, change_detail, read_progress
from iostrata.schema.events import ALL_REQUESTS
from iostrata.schema.names import check_level, check_sampling, left_out, sampling_text
from iostrata.show.text import plural
from iostrata.store.location import default_store
from iostrata.store.runs import find_run

# Agents look five times a second, the collector says once a second what they have done.
PATIENCE = 3.0


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata level nightly task    fewer calls one by one, from now on",
            "iostrata level nightly --sampling 1/100    one request of a hundred",
            "iostrata level nightly record --sampling 1/1 --json",
        )
    )(level)


def level(
    run: Annotated[str, typer.Argument(help="Name of a run that is being recorded.")],
    level: Annotated[
        str | None, typer.Argument(help="record, thread, phase, task or job; as it is if left out.")
    ] = None,
    sampling: Annotated[
        str | None, typer.Option(help="Share of the requests, 1/100, 1% or 0.01; 1/1: all.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Changes how much of a run that is being recorded is kept one by one.

    LEVEL is record, thread, phase, task or job, each keeping less than the one before; --sampling
    keeps some of the requests only. What is not kept one by one is still in all totals.
    """
    if level is None and sampling is None:
        raise UserError("nothing to change", "name a level, or say --sampling 1/100")
    wanted = None if level is None else check_level(level)
    share = None if sampling is None else check_sampling(sampling)
    found = find_run(store or default_store(), run)
    collector = collector_of(Path(found.collector)) if found.collector else None
    if found.state != "recording" or collector is None:
        raise UserError(f"run {run} is not being recorded: {found.state}", "iostrata runs")
    change_detail(collector, found.name, wanted, share)
    deadline = time.monotonic() + PATIENCE
    progress = read_progress(collector, found.name)
    while time.monotonic() < deadline and (not _done(progress, wanted, share) or progress.behind):
        time.sleep(0.05)
        progress = read_progress(collector, found.name)
    if json:
        now = {"level": progress.level, "sampling": sampling_text(progress.sampling)}
        print_json({"run": found.name, **now, "behind": progress.behind})
        return
    if not _done(progress, wanted, share):
        raise UserError(f"the collector of {collector.dir} did not answer", "iostrata doctor")
    out = left_out(progress.level)
    said = f", {out} only in sums" if out else ""
    if progress.sampling:
        said += f", {sampling_text(progress.sampling)} of the requests one by one"
    note(f"run {found.name}: level {progress.level}{said}")
    if progress.behind:
        note(f"{plural(progress.behind, 'process')} did not answer yet")


def _done(progress: Progress, level: str | None, sampling: int | None) -> bool:
    """The collector goes by what was asked; it says 0 for all requests."""
    same = sampling is None or progress.sampling % ALL_REQUESTS == sampling % ALL_REQUESTS
    return same and level in (None, progress.level)
