"""The application of all commands; `commands/` has the registry."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup

from iostrata.cli.commands import LazyGroup
from iostrata.version import __version__

EXIT_CODES = """\
Exit codes: 0 success · 1 a check failed (doctor) · 2 wrong use, or something you can mend (one
line says what) · 3 a fault of iostrata · 130 interrupted. `record` ends with the exit code of its
command (128 + n when signal n ended it, 127 not found, 126 not executable), or with 125 when it
could not start to record.
"""

app = typer.Typer(
    name="iostrata",
    cls=LazyGroup,
    help="Shows the I/O of Hadoop and Spark jobs in every Java layer, and why it happens.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def whole_command() -> TyperGroup:
    """The command with all commands below it, imported: for tests and the reference."""
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    group.load_all()
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"iostrata {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    pass
