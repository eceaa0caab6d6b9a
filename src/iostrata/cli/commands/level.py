"""iostrata level"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from iostrata.cli.answers import RunDetail
from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.console import note, print_json
from iostrata.errors import UserError
from iostrata.record.collector import collector_of
from iostrata.record.protocol import change_detail, read_progress
from iostrata.schema.detail import (
    budget_text,
    check_level,
    check_sampling,
    parse_budget,
    sampling_text,
)
from iostrata.schema.events import ALL_REQUESTS
from iostrata.schema.names import left_out
from iostrata.store.location import default_store
from iostrata.store.runs import find_run
from iostrata.text import plural

# Agents look five times a second, the collector says once a second what they have done.
PATIENCE = 3.0


@command(
    "iostrata level nightly task                less detail, from now on",
    "iostrata level nightly --budget off        whatever it costs",
    "iostrata level nightly --sampling 1/100    one request of a hundred",
    "iostrata level nightly record --sampling 1/1 --json",
)
def level(
    run: Annotated[str, typer.Argument(help="The name of a run that is being recorded.")],
    level: Annotated[
        str | None, typer.Argument(help="record, thread, phase, task or job; unchanged by default.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="Share of CPU time that tracing may take, such as 1%, or off."),
    ] = None,
    sampling: Annotated[
        str | None,
        typer.Option(
            help="Share of the requests to record individually: 1/100, 1% or 0.01; 1/1 is all."
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Changes how much detail a run records, while it goes on.

    LEVEL is record, thread, phase, task or job, and each records less detail than the one before.
    With --sampling, only some of the requests are recorded individually. Totals hold every call,
    but records of MapReduce are counted at the level record only.
    """
    if level is None and budget is None and sampling is None:
        raise UserError("nothing to change", "name a level, or say --budget 1% or --sampling 1/100")
    changes: dict[str, Any] = {}
    if level is not None:
        changes["level"] = check_level(level)
    if budget is not None:
        changes["budget"] = parse_budget(budget)
    if sampling is not None:
        changes["sampling"] = check_sampling(sampling)
    recorded = find_run(store or default_store(), run)
    collector = collector_of(Path(recorded.collector)) if recorded.collector else None
    if recorded.state != "recording" or collector is None:
        raise UserError(f"run {run} is not being recorded: {recorded.state}", "iostrata runs")
    key = recorded.path.resolve().name  # what the collector calls it
    wanted = replace(read_progress(collector, key).detail, **changes)
    change_detail(collector, key, wanted)
    deadline = time.monotonic() + PATIENCE
    progress = read_progress(collector, key)
    while time.monotonic() < deadline and (progress.detail != wanted or progress.behind):
        time.sleep(0.05)
        progress = read_progress(collector, key)
    if json:
        detail = progress.detail
        sampling = sampling_text(detail.sampling)
        behind = progress.behind
        print_json(RunDetail(recorded.name, detail.level, detail.budget, sampling, behind))
        return
    if progress.detail != wanted:
        raise UserError(f"the collector of {collector.dir} did not answer", "iostrata doctor")
    summed = left_out(wanted.level)
    limits = f", {summed} only summed" if summed else ""
    if wanted.sampling != ALL_REQUESTS:
        limits += f", {sampling_text(wanted.sampling)} of the requests individually"
    note(f"run {recorded.name}: level {wanted.level}, budget {budget_text(wanted.budget)}{limits}")
    if progress.behind:
        note(f"{plural(progress.behind, 'process')} did not answer yet")
