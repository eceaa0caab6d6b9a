"""Where the store is, and what a run may be called."""

from __future__ import annotations

import os
import re
from pathlib import Path

from iostrata.errors import UserError

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def default_store() -> Path:
    """`$IOSTRATA_STORE`, else `~/.local/share/iostrata`; it need not exist."""
    named = os.environ.get("IOSTRATA_STORE")
    return Path(named).absolute() if named else Path.home() / ".local/share/iostrata"


def check_run_name(name: str) -> str:
    """The name itself; raises UserError when it is not a run name."""
    if not RUN_NAME.fullmatch(name):
        raise UserError(
            f"run name {name!r} is not allowed",
            "1 to 64 letters, digits, dots, underscores or dashes, not starting with one",
        )
    return name
