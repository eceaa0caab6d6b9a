"""iostrata prepare"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostrata.cli.arguments import commands, examples

group = typer.Typer(
    no_args_is_help=True, help="Prints the change that traces a cluster of your own."
)
commands.add_typer(group, name="prepare")


@group.callback()
def _several() -> None:
    """Prints what traces a cluster of your own; changes nothing."""


@group.command(epilog=examples("iostrata prepare hadoop --conf /etc/hadoop/conf"))
def hadoop(
    conf: Annotated[Path, typer.Option(help="Folder with core-site.xml and hadoop-env.sh.")],
) -> None:
    """Prints the exact change of configuration that traces this cluster, and its undo."""
    from iostrata.artifacts import installed_agent
    from iostrata.prepare import prepare
    from iostrata.record.collector import NODE_DIR

    print(prepare(conf, installed_agent(), NODE_DIR))
