"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunArgument = Annotated[str | None, typer.Argument(help="Name of a run; the latest by default.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(help="Store of runs; by default $IOSTRATA_STORE or ~/.local/share/iostrata."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")
]

# For `workload run` and `study run`.
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter; repeatable."),
]
ScaleOption = Annotated[
    float, typer.Option(min=1e-6, help="Multiply the defaults of parameters that scale.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of everything that is random.")]


def examples(*lines: str) -> str:
    """The examples that end a --help: one `command   what it does` per line."""
    return "Examples:\n\n" + "\n\n".join(f"    {line}" for line in lines)
