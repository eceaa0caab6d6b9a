"""iostrata runs"""

from __future__ import annotations

import os
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, StoreOption, command
from iostrata.cli.console import print_json, print_table
from iostrata.cli.opening import say_incomplete
from iostrata.record.collector import NODE_DIR, collector_of
from iostrata.store.location import default_store
from iostrata.store.runs import Run, list_runs
from iostrata.store.tags import has_tags, tags_text
from iostrata.text import count, printable, seconds, shortened, size

LONGEST = 60  # characters of a label, and of tags


@command(
    "iostrata runs",
    "iostrata runs 'before-*'",
    "iostrata runs --tag cluster=test --tag try",
    "iostrata runs --json | jq -r '.[] | .name'",
)
def runs(
    names: Annotated[
        str, typer.Argument(help="Only runs with such a name or label, which may have *.")
    ] = "*",
    tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY[=VALUE]", help="Only runs with this tag; repeatable. VALUE may have *."
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Lists recorded runs, newest first: those of the store, and yours in the node's store."""
    visible = _visible(store or default_store())
    found = [run for run in visible if _is_like(run, names) and has_tags(run.tags, tag or [])]
    for run in found:
        say_incomplete(run.name, run.damage)
    if json:
        print_json(found)
        return
    if not found:
        where = store or default_store()
        others = f"none of the {count(len(visible))} runs in {where} is like that"
        none = f"no runs in {where}: record one with iostrata record -- COMMAND"
        print(others if visible else none)
        return
    header = ["run", "start", "duration", "state", "exit", "events", "size", "command"]
    print_table(header, [_row(run) for run in found], {2, 4, 5, 6})


def _is_like(run: Run, names: str) -> bool:
    """Whether its name is like that, or what ran, or the first word of that."""
    return any(fnmatchcase(text, names) for text in (run.name, run.label, run.label.split(" ")[0]))


def _visible(store: Path) -> list[Run]:
    """Runs of the store and, where we may list it, of the node's; each once."""
    found = {run.path.resolve(): run for run in list_runs(store)}
    node = collector_of(NODE_DIR)
    if node is not None and os.access(node.store, os.R_OK | os.X_OK):
        found |= {run.path.resolve(): run for run in list_runs(node.store)}
    return sorted(found.values(), key=lambda run: (run.start, run.name), reverse=True)


def _row(run: Run) -> list[str]:
    begun = datetime.fromtimestamp(run.start / 1e9).strftime("%Y-%m-%d %H:%M") if run.start else ""
    tags = f"  [{shortened(tags_text(run.tags), LONGEST)}]" if run.tags else ""
    return [
        run.name,
        begun,
        seconds(run.end - run.start) if run.end else "",
        run.state,
        "" if run.exit is None else str(run.exit),
        count(run.events),
        size(run.bytes),
        printable(shortened(run.label, LONGEST) + tags),
    ]
