"""iostrata record"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import StoreOption, TagOption, command
from iostrata.cli.recording import record_command
from iostrata.cli.recordline import BUDGET, RecordOptions


@command(
    "iostrata record -- java -jar program.jar",
    "iostrata record --run baseline -- ./job.sh",
    "iostrata record --tag cluster=test --tag try=2 -- ./job.sh",
    "iostrata record --budget off --run all-of-it -- ./job.sh",
    "iostrata record --sampling 1/100 -- ./job.sh      one request of a hundred in detail",
    "iostrata record --points mine.toml -- java -jar program.jar",
    "iostrata record --native -- ./program",
    "sudo iostrata record --native --devices -- ./program",
    "iostrata record --lab lab -- hadoop jar examples.jar wordcount in out",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def record(
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments.", metavar="-- COMMAND...")
    ],
    dir: Annotated[  # noqa: A002
        Path | None, typer.Option(help="Directory of a running collector; by default the node's.")
    ] = None,
    lab: Annotated[str | None, typer.Option(help="Record on the cluster of this lab.")] = None,
    run: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    store: StoreOption = None,
    without_point: Annotated[
        list[str] | None,
        typer.Option(help="Switch a point off in all processes (Class#method; for experiments)."),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            help="What to record individually: record, thread, phase, task or job, each less than "
            "the one before. Sums are complete at each level, but records of MapReduce are counted "
            "at the first only."
        ),
    ] = RecordOptions.level,
    budget: Annotated[
        str,
        typer.Option(
            envvar=BUDGET,
            help="Share of its CPU time that tracing may cost each process, like 1%, or off. To "
            "stay within it, a process records some reads and writes in sums only.",
        ),
    ] = "1%",
    sampling: Annotated[
        str,
        typer.Option(
            help="Share of the requests to record individually: 1/100, 1% or 0.01. A request is a "
            "call that nothing but a task encloses, with all that it causes. Sums are complete."
        ),
    ] = "1/1",
    points: Annotated[
        list[Path] | None,
        typer.Option(help="Trace the methods of this file, too (docs/add-a-point.md); repeatable."),
    ] = None,
    tag: TagOption = None,
    private: Annotated[
        bool, typer.Option(help="Use a collector of your own, which sees your own processes.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option(help="Record native programs, too: what they call of the C library."),
    ] = False,
    devices: Annotated[
        bool,
        typer.Option(
            help="Record requests to block devices, too, each process's own; needs a collector of "
            "root."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Runs a command and records the I/O of every Java process that it starts.

    The command keeps its output, its exit code and its signals.
    A command that fails or is interrupted leaves a run, too, which says so.
    """
    record_command(
        RecordOptions(
            command=command,
            dir=dir,
            lab=lab,
            run=run,
            store=store,
            without_point=without_point or [],
            level=level,
            budget=budget,
            sampling=sampling,
            points=points or [],
            tag=tag or [],
            private=private,
            quiet=quiet,
            native=native,
            devices=devices,
        )
    )
