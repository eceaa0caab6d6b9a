"""iostrata attach"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from iostrata.cli.arguments import JsonOption, StoreOption, TagOption, command
from iostrata.cli.console import complain, note, print_json
from iostrata.cli.recording import record_command
from iostrata.cli.recordline import RecordOptions
from iostrata.errors import UserError
from iostrata.record.attach import AgentChange
from iostrata.record.attach import attach as attach_one
from iostrata.record.attached import AttachedJvms
from iostrata.record.collector import NODE_DIR, collector_of, distrust
from iostrata.record.hotspot import find_target
from iostrata.record.jvms import has_live_agent
from iostrata.store.location import check_run_name
from iostrata.text import plural, printable

PidsArgument = Annotated[
    list[int], typer.Argument(help="Process ids of running JVMs.", metavar="PID...")
]


@command(
    "iostrata attach 4711                 record a program that runs, until it ends or Ctrl-C",
    "iostrata attach 4711 --seconds 60 --run slow",
    "sudo iostrata attach 4711            a NameNode, where the node has a collector",
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
    private: Annotated[
        bool, typer.Option("--private", help="Record a run, with a collector of your own.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Of a run that it records: for so long.")
    ] = None,
    store: StoreOption = None,
    tag: TagOption = None,
    json: JsonOption = False,
) -> None:
    """Brings the agent into running JVMs, which go on running.

    Without a collector on the node, or with --private, --seconds, --store or --tag, it records a
    run as `iostrata record` does, until the JVMs end, Ctrl-C, or --seconds have passed. Then the
    JVMs are without agent again.

    With a collector on the node, until `iostrata detach`, the runs of recorded jobs and clients
    hold what these JVMs do for them. The run that --run names holds what a program does by itself.
    It needs root or the user of the JVM.
    """
    directory = (dir or NODE_DIR).absolute()
    name = check_run_name(run) if run else ""
    own = private or seconds or store or tag
    if dir is not None and own:
        raise UserError("--dir names a collector, the other options one of your own", "choose")
    collector = None if own else collector_of(directory)
    if collector is None and dir is None:
        _record(
            pids, RecordOptions(run=run, store=store, tag=tag or [], private=True), seconds, json
        )
    if collector is None:
        remedy = f"iostrata attach {pids[0]} alone records with a collector of its own"
        raise distrust(directory) or UserError(f"no collector is alive in {directory}", remedy)
    for_each(pids, lambda pid: attach_one(pid, collector, name), json)


def _record(pids: list[int], options: RecordOptions, seconds: float | None, json: bool) -> NoReturn:
    """A run of these JVMs."""
    for pid in pids:
        find_target(pid)
        if has_live_agent(pid):
            raise UserError(f"pid {pid} has an agent already", f"iostrata detach {pid}")
    changes: list[AgentChange] = []

    def say(change: AgentChange) -> None:
        changes.append(change)
        if change.error:
            complain(change.error, change.remedy)
        else:
            note(_line(change))

    options.command = ["iostrata", "attach", *map(str, pids)]
    try:
        record_command(options, lambda run: AttachedJvms(pids, run, seconds, say))
    finally:
        if json:
            print_json(changes)


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
