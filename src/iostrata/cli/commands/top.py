"""iostrata top"""

from __future__ import annotations

import json as json_text
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from iostrata.analyse.live import LiveView, live_view
from iostrata.analyse.watch import Watch
from iostrata.cli.arguments import StoreOption, command
from iostrata.cli.console import note, terminal_width
from iostrata.cli.terminal import out
from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata.show.live import live_lines
from iostrata.store.location import default_store
from iostrata.store.runs import Run, find_run, list_runs


@command(
    "iostrata top                     the run that is being recorded",
    "iostrata top nightly --interval 5",
    "iostrata top --once              one view",
    "iostrata top --json | jq .rates  a line of JSON each second",
)
def top(
    run: Annotated[
        str | None,
        typer.Argument(help="Name of a run; by default the latest that is being recorded."),
    ] = None,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two views.")] = 1.0,
    once: Annotated[
        bool, typer.Option("--once", help="Shows one view, after one interval, and ends.")
    ] = False,
    store: StoreOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Prints each view as one line of JSON.")
    ] = False,
) -> None:
    """Shows what a run does while it is being recorded: rates, latencies and open calls.

    The command ends when the run ends. Ctrl-C ends the command and leaves the run alone. The
    figures are one or two seconds old; the first line says how old. Latencies are of the calls
    that were recorded individually and ended since the view before.
    """
    recorded = _recording(store or default_store(), run)
    views = _views(Watch(recorded), interval, once)
    if sys.stdout.isatty() and not json and not once:
        with Live(console=out, screen=False, auto_refresh=False) as live:
            for view in views:
                shown = "\n".join(live_lines(view, terminal_width()))
                text = Text(shown, no_wrap=True, overflow="ellipsis")
                live.update(text, refresh=True)
        return
    for view in views:
        print(
            json_text.dumps(builtins(view))
            if json
            else "\n".join([*live_lines(view, terminal_width()), ""]),
            flush=True,
        )


def _views(watch: Watch, interval: float, once: bool) -> Iterator[LiveView]:
    """Until the run has ended; with `once` only one, which knows rates unless the run has ended."""
    before = watch.snapshot()
    if not once or before.ended:
        yield live_view(None, before)
    begun = time.monotonic()
    while not before.ended:
        time.sleep(interval)
        after = watch.snapshot()
        # a file may be the one that was read before: no time has passed
        is_news = after.ended or any(
            at > before.until.get(host, 0) for host, at in after.until.items()
        )
        if is_news or time.monotonic() - begun > 10 * interval:
            begun = time.monotonic()
            yield live_view(before, after)
            before = after
            if once:
                return


def _recording(store: Path, name: str | None) -> Run:
    if name is not None:
        return find_run(store, name)
    runs = [run for run in list_runs(store) if run.state == "recording"]
    if not runs:
        raise UserError(
            f"no run is being recorded in {store}", "iostrata runs lists those that were"
        )
    if len(runs) > 1:
        note(f"{len(runs)} runs are being recorded: this is {runs[0].name}, the latest")
    return runs[0]
