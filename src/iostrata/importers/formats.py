"""The formats that can be imported, and how a file tells which one it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from iostrata.errors import UserError
from iostrata.importers import darshan, dftracer, strace
from iostrata.importers.account import Account, Tell
from iostrata.importers.lines import begin_of
from iostrata.importers.writer import RunWriter


class Format(Protocol):
    """A module that reads one format."""

    NAME: str
    HINT: str  # how to make such a trace

    def recognises(self, begin: bytes) -> bool:
        """Whether a file that begins so is one; unpacked, where it is packed."""
        ...

    def read(self, path: Path, writer: RunWriter, account: Account, tell: Tell) -> None:
        """Hands what is in the file to the writer, and says in the account what is not."""
        ...


FORMATS: dict[str, Format] = {module.NAME: module for module in (darshan, dftracer, strace)}
_KNOWN = "if you know it, say --format"
# Number of the file, and bytes read of it.
Seen = Callable[[int, int], None]


def import_files(
    files: list[Path], format_name: str | None, store: Path, run: str, seen: Seen
) -> Path:
    """Makes a run of files of one format; its folder. Raises UserError and leaves nothing then."""
    found = _format(files, format_name)
    account = Account(found.NAME)
    with RunWriter(store, run) as writer:
        for number, path in enumerate(files):
            found.read(path, writer, account, partial(seen, number))
        if not writer.rows:
            raise UserError(
                f"{files[0]} holds no I/O that is understood as {found.NAME}: "
                f"{account.message().partition('; ')[2] or 'nothing'}",
                found.HINT,
            )
        return writer.finish(account, files)


def _format(files: list[Path], name: str | None) -> Format:
    if name is not None:
        if name not in FORMATS:
            raise UserError(f"no format is called {name!r}", f"one of {', '.join(FORMATS)}")
        return FORMATS[name]
    names = {path: _recognised(path) for path in files}
    first = names[files[0]]
    for path, found in names.items():
        if found is not first:
            raise UserError(
                f"{files[0]} is of {first.NAME}, {path} of {found.NAME}",
                "one run is made of one format: import them one by one",
            )
    return first


def _recognised(path: Path) -> Format:
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no file: its format is not known before it is read", _KNOWN)
    begin = begin_of(path)
    for found in FORMATS.values():
        if found.recognises(begin):
            return found
    what = "is empty" if not begin else f"is no trace of {', '.join(FORMATS)}"
    raise UserError(f"{path} {what}", _KNOWN)
