"""The formats that can be imported, and how a file tells which one it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.importers import darshan, dftracer, strace
from iostrata.importers.account import ImportAccount
from iostrata.importers.lines import begin_of
from iostrata.importers.writer import RunWriter
from iostrata.progress import Progress, silent
from iostrata.registry import Registry


@dataclass(frozen=True)
class TraceFormat:
    """`recognises` a file by its first bytes, unpacked where it is packed; `read` hands what is in
    it to the writer, and says in the account what is not; `hint`: how to make such a trace.
    """

    name: str
    hint: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path, RunWriter, ImportAccount], None]


FORMATS = Registry(
    "format",
    (
        TraceFormat("darshan", darshan.HINT, darshan.recognises, darshan.read),
        TraceFormat("dftracer", dftracer.HINT, dftracer.recognises, dftracer.read),
        TraceFormat("strace", strace.HINT, strace.recognises, strace.read),
    ),
)
_REMEDY = "if you know it, say --format"


def import_files(
    files: list[Path], format_name: str | None, store: Path, run: str, progress: Progress = silent
) -> Path:
    """Makes a run of files of one format; its folder. Raises UserError and leaves nothing then.

    The step is "import".
    """
    chosen = FORMATS.named(format_name) if format_name is not None else _format_of(files)
    account = ImportAccount(chosen.name, files, progress)
    with RunWriter(store, run) as writer:
        for path in files:
            chosen.read(path, writer, account)
        if not writer.rows:
            raise UserError(
                f"{files[0]} holds no I/O that is understood as {chosen.name}: "
                f"{account.message().partition('; ')[2] or 'nothing'}",
                chosen.hint,
            )
        return writer.finish(account)


def _format_of(files: list[Path]) -> TraceFormat:
    """The format that all files have."""
    first = _recognised(files[0])
    for path in files[1:]:
        other = _recognised(path)
        if other is not first:
            raise UserError(
                f"{files[0]} is of {first.name}, {path} of {other.name}",
                "one run is made of one format: import them one after the other",
            )
    return first


def _recognised(path: Path) -> TraceFormat:
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no file: its format is not known before it is read", _REMEDY)
    begin = begin_of(path)
    for each in FORMATS.values():
        if each.recognises(begin):
            return each
    what = "is empty" if not begin else f"is no trace of {', '.join(FORMATS)}"
    raise UserError(f"{path} {what}", _REMEDY)
