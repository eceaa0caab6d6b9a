"""iostrata what-if"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iostrata.cli.arguments import JsonOption, QuietOption, StoreOption, command
from iostrata.cli.console import print_json, progress
from iostrata.cli.opening import traced_run
from iostrata.cli.storages import other_storage
from iostrata.errors import UserError

if TYPE_CHECKING:
    from iostrata.replay.alternative import Alternative
    from iostrata.replay.whatif import WhatIf


@command(
    "iostrata what-if --faster-disk 2x             of the latest run",
    "iostrata what-if nightly --containers 8 --cores 4",
    "iostrata what-if monday tuesday wednesday --faster-disk 2x",
    "iostrata what-if nightly --nodes 16 --block-size 256MiB",
    "iostrata what-if nightly --set dfs.replication=2 --json",
    "iostrata what-if nightly --storage ssd/model.json --instead-of disk/model.json --at size=1GiB",
)
def what_if(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN…", help="The latest if left out; of several of one job, the mean."
        ),
    ] = None,
    faster_disk: Annotated[
        str, typer.Option(metavar="FACTOR", help="Disks so many times as fast: 2x, 0.5x.")
    ] = "",
    storage: Annotated[
        str,
        typer.Option(metavar="MODEL", help="Disks like this storage (model.json of iostrata fit)."),
    ] = "",
    instead_of: Annotated[
        str, typer.Option(metavar="MODEL", help="With --storage: what the run's disks are like.")
    ] = "",
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="With --storage: a dimension of the models that the run does not say; repeatable.",
        ),
    ] = None,
    network: Annotated[
        str,
        typer.Option(
            metavar="RATE", help="Each host sends and receives so much at most: 10Gbit, 20MB/s."
        ),
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
    codec: Annotated[
        str,
        typer.Option(
            metavar="NAME[=RATIO]", help="Map output compressed by lz4, snappy, zstd or gzip."
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of Hadoop or Spark."),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Says how long a recorded job would take with a change.

    The job is replayed as it was recorded: its attempts, their phases, what each took of CPU and
    disks, and who waited for whom. The replay without a change is printed, too.
    """
    from iostrata.replay import codecs, hardware
    from iostrata.replay.settings import setting, split_size
    from iostrata.replay.whatif import STEPS, mean_of
    from iostrata.replay.whatif import what_if as replayed

    asked: tuple[tuple[str | int, Callable[[Any], Alternative]], ...] = (
        (faster_disk, hardware.faster_disks),
        (network, hardware.network),
        (containers, hardware.containers),
        (cores, hardware.cores),
        (nodes, hardware.nodes),
        (block_size, partial(split_size, "--block-size")),
        (codec, codecs.codec),
    )
    changes = [make(value) for value, make in asked if value]
    if storage or instead_of:
        changes.append(other_storage(storage, instead_of, at or []))
    changes += [setting(text) for text in settings or []]
    if not changes:
        raise UserError("no change is named", "for example --faster-disk 2x")
    each = []
    named: Sequence[str | None] = runs or [None]
    for run in named:
        with traced_run(store, run) as traced, progress(STEPS, quiet) as step:
            each.append(replayed(traced.opened, changes, step))
    found = mean_of(each)
    if json:
        print_json(found)
    else:
        print("\n".join(_lines(found)))


def _lines(found: WhatIf) -> list[str]:
    from iostrata.text import percent, plural, seconds

    off = percent(found.off, 1, signed=True)
    word = "less" if found.gain >= 0 else "more"
    several = len(found.runs) > 1
    replay = "their replays take" if several else "its replay takes"
    of = f", the mean of {plural(len(found.runs), 'run')}" if several else ""
    lines = [
        f"as recorded: {seconds(found.recorded)}{of}; {replay} {seconds(found.replayed)} ({off})",
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
