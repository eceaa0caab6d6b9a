"""Arguments that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

_F = TypeVar("_F", bound=Callable[..., Any])
# All commands of this package, of which each registers itself when it is imported.
commands = typer.Typer(add_completion=False, rich_markup_mode="markdown")

RunArgument = Annotated[str | None, typer.Argument(help="Name of a run; the latest by default.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(help="Store of runs; by default $IOSTRATA_STORE or ~/.local/share/iostrata."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")
]
TagOption = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Say something of the run, to find it by; repeatable."),
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
    escaped = (line.replace("*", "\\*") for line in lines)  # as text in Markdown
    return "Examples:\n\n" + "\n\n".join(f"    {line}" for line in escaped)


def command(*lines: str, **settings: Any) -> Callable[[_F], _F]:
    """Makes a function a command whose --help ends with these examples."""
    return commands.command(epilog=examples(*lines), **settings)
