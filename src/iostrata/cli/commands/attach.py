"""iostrata attach"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import JsonOption, command
from iostrata.cli.console import complain, print_json
from iostrata.errors import UserError
from iostrata.record.attach import AgentChange
from iostrata.record.attach import attach as attach_one
from iostrata.record.collector import NODE_DIR, collector_of, distrust
from iostrata.store.location import check_run_name
from iostrata.text import plural, printable

PidsArgument = Annotated[
    list[int], typer.Argument(help="Process ids of running JVMs.", metavar="PID...")
]


@command(
    "iostrata attach 4711                 a NameNode that was started without the agent",
    "iostrata attach 4711 --run my-run    a program of its own, while my-run is recorded",
    "iostrata attach $(pgrep -f DataNode) --json",
)
def attach(
    pids: PidsArgument,
    dir: Annotated[  # noqa: A002
        Path | None, typer.Option(help="Directory of a running collector; by default the node's.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="The run to which all calls of these JVMs belong.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Brings the agent into running JVMs, which go on running.

    Until `iostrata detach`, the runs of recorded jobs and clients hold what these JVMs do for them.
    The run that --run names holds what a program does by itself.
    It needs root or the user of the JVM.
    """
    directory = (dir or NODE_DIR).absolute()
    name = check_run_name(run) if run else ""
    collector = collector_of(directory)
    if collector is None:
        remedy = f"start one: iostrata-native collect --dir {directory} --store … --spool …"
        raise distrust(directory) or UserError(f"no collector is alive in {directory}", remedy)
    for_each(pids, lambda pid: attach_one(pid, collector, name), json)


def for_each(pids: Sequence[int], act: Callable[[int], AgentChange], json: bool) -> None:
    """Acts on every JVM and says what became of each; exit code 2 when it failed for one."""
    changes = []
    for pid in pids:
        try:
            outcome = act(pid)
        except UserError as error:
            changes.append(AgentChange(pid, error=error.message, remedy=error.remedy))
            if not json:
                complain(error.message, error.remedy)
            continue
        changes.append(outcome)
        if not json:
            print(printable(_line(outcome)))
            if outcome.failed:
                complain(f"pid {pid}: could not be changed: {outcome.failed}")
    if json:
        print_json(changes)
    if any(change.error for change in changes):
        sys.exit(2)


def _line(outcome: AgentChange) -> str:
    parts = [f"pid {outcome.pid}: {outcome.line}"]
    if outcome.points:
        parts.append(f"{plural(len(outcome.points), 'point')} woven")
    if outcome.classes:
        parts.append(f"{plural(outcome.classes, 'loaded class')} changed")
    return " · ".join(parts)
