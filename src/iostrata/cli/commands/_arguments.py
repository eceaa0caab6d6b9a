"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunArgument = Annotated[str | None, typer.Argument(help="Name of a run; the latest by default.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(help="Store of runs; $IOSTRATA_STORE, else ~/.local/share/iostrata."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document, for programs.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]

# Of what `workload run` and `study run` do.
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter.")
]
ScaleOption = Annotated[float, typer.Option(min=1e-6, help="Times the defaults of what scales.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Of all that is random.")]


def examples(*lines: str) -> str:
    """The examples that end a --help: one `command   what it does` per line."""
    return "Examples:\n\n" + "\n\n".join(f"    {line}" for line in lines)
