"""iostrata what-if"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from iostrata.cli.arguments import JsonOption, QuietOption, RunArgument, StoreOption, command
from iostrata.cli.console import print_json, progress
from iostrata.cli.opening import traced_run
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.replay.changes import Alternative
    from iostrata.replay.whatif import WhatIf


@command(
    "iostrata what-if --faster-disk 2x             of the latest run",
    "iostrata what-if nightly --containers 8 --cores 4",
    "iostrata what-if nightly --nodes 16 --block-size 256MiB",
    "iostrata what-if nightly --set dfs.replication=2 --json",
)
def what_if(
    run: RunArgument = None,
    faster_disk: Annotated[
        str, typer.Option(metavar="FACTOR", help="Disks so many times as fast: 2x, 0.5x.")
    ] = "",
    containers: Annotated[
        int, typer.Option(min=0, metavar="N", show_default=False, help="So many attempts at once.")
    ] = 0,
    cores: Annotated[
        int,
        typer.Option(min=0, metavar="N", show_default=False, help="So many cores in each machine."),
    ] = 0,
    nodes: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", show_default=False, help="So many nodes, like those of the run."
        ),
    ] = 0,
    block_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Maps of so many bytes each: 256MiB.")
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of Hadoop; repeatable."),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Says how long a recorded job would take with a change.

    The job is replayed as it was recorded: its attempts, their phases, what each took of CPU and
    disks, and who waited for whom. The replay without a change is printed, too.
    """
    from iostrata.replay.changes import containers as of_containers
    from iostrata.replay.changes import cores as of_cores
    from iostrata.replay.changes import faster_disks, setting, split_size
    from iostrata.replay.changes import nodes as of_nodes
    from iostrata.replay.whatif import STEPS
    from iostrata.replay.whatif import what_if as replayed

    changes: list[Alternative] = []
    if faster_disk:
        changes.append(faster_disks(faster_disk))
    if containers:
        changes.append(of_containers(containers))
    if cores:
        changes.append(of_cores(cores))
    if nodes:
        changes.append(of_nodes(nodes))
    if block_size:
        changes.append(split_size("--block-size", block_size))
    changes += [setting(text) for text in settings or []]
    if not changes:
        raise UserError("no change is named", "for example --faster-disk 2x")
    with traced_run(store, run) as traced, progress(STEPS, quiet) as step:
        found = replayed(traced.opened, changes, step)
    if json:
        print_json(found)
    else:
        print("\n".join(_lines(found)))


def _lines(found: WhatIf) -> list[str]:
    from iostrata.text import percent, plural, seconds

    off = percent(found.off, 1, signed=True)
    word = "less" if found.gain >= 0 else "more"
    replayed = f"its replay takes {seconds(found.replayed)} ({off})"
    lines = [
        f"as recorded: {seconds(found.recorded)}; {replayed}",
        f"with {', '.join(found.changes)}: {seconds(found.predicted)} "
        f"({seconds(found.low)} to {seconds(found.high)}), {percent(abs(found.gain))} {word}",
    ]
    lines += [
        f"  {plural(one.attempts, one.role)} of {seconds(one.before)} -> "
        f"{one.attempts_after} of {seconds(one.after)}, in the mean"
        for one in found.roles
    ]
    lines.append(
        f"kept as it was: {percent(found.kept)} of the time of attempts, "
        "which neither CPU nor disks explain"
    )
    lines += [f"assumes: {text}" for text in found.assumes]
    return lines
