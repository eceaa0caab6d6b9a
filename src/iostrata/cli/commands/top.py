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

from iostrata.cli.commands._arguments import StoreOption, examples
from iostrata.cli.console import note, out
from iostrata.errors import UserError
from iostrata.show.live.lines import now_lines
from iostrata.show.live.now import Now, now
from iostrata.show.live.watch import Watch
from iostrata.store.location import default_store
from iostrata.store.runs import Run, find_run, list_runs


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "iostrata top                     the run that is being recorded",
            "iostrata top nightly --interval 5",
            "iostrata top --once              what it does now, and ends",
            "iostrata top --json | jq .rates  a line of JSON a second",
        )
    )(top)


def top(
    run: Annotated[
        str | None, typer.Argument(help="Name of a run; the latest that is recorded by default.")
    ] = None,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Two looks an interval apart.")] = False,
    store: StoreOption = None,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON a look.")] = False,
) -> None:
    """What a run does that is still going on: rates, latencies and open calls, once a second.

    It ends with the run. Ctrl-C ends the view and leaves the run alone. What it shows is a second
    or two old, and says how old; latencies are of the calls kept one by one that ended meanwhile.
    """
    found = _recording(store or default_store(), run)
    views = _views(Watch(found), interval, once)
    if sys.stdout.isatty() and not json and not once:
        with Live(console=out, screen=False, auto_refresh=False) as live:
            for view in views:
                text = Text("\n".join(now_lines(view)), no_wrap=True, overflow="ellipsis")
                live.update(text, refresh=True)
        return
    for view in views:
        print(
            json_text.dumps(view.as_dict()) if json else "\n".join([*now_lines(view), ""]),
            flush=True,
        )


def _views(watch: Watch, interval: float, once: bool) -> Iterator[Now]:
    """Until the run has ended; with `once` one that knows rates, or the last."""
    before = watch.look()
    if not once or before.ended:
        yield now(None, before)
    begun = time.monotonic()
    while not before.ended:
        time.sleep(interval)
        look = watch.look()
        # a slow look may find the file that it found before: no time has passed
        is_news = look.ended or any(at > before.at.get(host, 0) for host, at in look.at.items())
        if is_news or time.monotonic() - begun > 10 * interval:
            begun = time.monotonic()
            yield now(before, look)
            before = look
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
