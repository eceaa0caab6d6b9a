"""iostrata runs"""

from __future__ import annotations

import os
import shlex
from datetime import datetime
from pathlib import Path

from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.console import print_json, print_table
from iostrata.cli.opening import say_incomplete
from iostrata.record.collector import NODE_DIR, collector_of
from iostrata.store.location import default_store
from iostrata.store.runs import Run, list_runs
from iostrata.text import count, seconds, size


@command("iostrata runs", "iostrata runs --json | jq -r '.[] | .name'")
def runs(store: StoreOption = None, json: JsonOption = False) -> None:
    """Lists recorded runs, newest first: those of the store, and yours in the node's store."""
    visible = _visible(store or default_store())
    for run in visible:
        say_incomplete(run.name, run.damage)
    if json:
        print_json(visible)
        return
    if not visible:
        print(f"no runs in {store or default_store()}: record one with iostrata record -- COMMAND")
        return
    header = ["run", "start", "duration", "state", "exit", "events", "size", "command"]
    print_table(header, [_row(run) for run in visible], {2, 4, 5, 6})


def _visible(store: Path) -> list[Run]:
    """Runs of the store and, where we may list it, of the node's; each once."""
    found = {run.path.resolve(): run for run in list_runs(store)}
    node = collector_of(NODE_DIR)
    if node is not None and os.access(node.store, os.R_OK | os.X_OK):
        found |= {run.path.resolve(): run for run in list_runs(node.store)}
    return sorted(found.values(), key=lambda run: (run.start, run.name), reverse=True)


def _row(run: Run) -> list[str]:
    begun = datetime.fromtimestamp(run.start / 1e9).strftime("%Y-%m-%d %H:%M") if run.start else ""
    command = shlex.join(run.command)
    return [
        run.name,
        begun,
        seconds(run.end - run.start) if run.end else "",
        run.state,
        "" if run.exit is None else str(run.exit),
        count(run.events),
        size(run.bytes),
        command if len(command) <= 60 else command[:59] + "…",
    ]
