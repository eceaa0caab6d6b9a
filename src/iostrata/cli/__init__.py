"""The command line. `main` is the entry point, `app` has all commands."""

from __future__ import annotations

import sys
from pathlib import Path

from iostrata.cli.console import complain
from iostrata.errors import InternalError, UserError


def main() -> None:
    """Runs the command line; the only place that turns exceptions into exit codes."""
    try:
        _called()
    except UserError as error:
        complain(error.message, error.remedy)
        sys.exit(error.exit_code)
    except InternalError as error:
        complain(f"fault of iostrata: {error}", "please report it with this line")
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        complain(f"fault of iostrata: {_told(error)}", "please report it with this line")
        sys.exit(3)


def _called() -> None:
    """Runs the command that is called; `record` without the libraries that the others need."""
    options = None
    if sys.argv[1:2] == ["record"]:
        from iostrata.cli.recordline import record_options

        options = record_options(sys.argv[2:])
    if options is not None:
        from iostrata.cli.recording import record_command

        record_command(options)
    from iostrata.cli.app import app

    app()


def _told(error: Exception) -> str:
    """What happened, in one line, and the last place of ours where it did."""
    import traceback

    places = traceback.extract_tb(error.__traceback__)
    ours = next((at for at in reversed(places) if "iostrata" in at.filename), places[-1])
    line = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {line} ({Path(ours.filename).name}:{ours.lineno})"
