"""What long measurements keep in a folder: one process at a time, and each result at once."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from iostrata.errors import UserError
from iostrata.records import builtins

_T = TypeVar("_T")


@contextmanager
def locked(folder: Path, what: str, remedy: str) -> Iterator[None]:
    """Makes the folder, and keeps others out of it; raises UserError where `what` runs already."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(f"{what} runs already", remedy) from error
        yield


def read_kept(file: Path, kind: type[_T], nothing: _T) -> _T:
    """What was kept, or `nothing`; raises UserError where it cannot be read."""
    if not file.exists():
        return nothing
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {error}", f"rm {file}") from error


def keep(file: Path, value: Any) -> None:
    """Writes it whole, or not at all."""
    draft = file.with_suffix(".tmp")
    draft.write_text(json.dumps(builtins(value), indent=1) + "\n")
    draft.replace(file)
