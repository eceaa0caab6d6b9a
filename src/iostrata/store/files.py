"""The published files of a run, each checked to be whole: what every reader begins with."""

from __future__ import annotations

from pathlib import Path

from iostrata.errors import UserError
from iostrata.schema.events import COLUMNS, PROCESS_COLUMNS, SYSTEM_COLUMNS
from iostrata.store.runs import Run

# Tables of a run: where their files are, and their columns.
TABLES = {
    "events": ("*/*.parquet", COLUMNS),
    "processes": ("*.parquet", PROCESS_COLUMNS),
    "system": ("*/*.parquet", SYSTEM_COLUMNS),
}
# What is a call or a sum of calls; pauses of whole JVMs are no I/O, and in neither of the two.
VIEWS = {
    "sums": ("kind = 'sum'", "layer <> 'jvm'"),
    "calls": ("kind = 'call'", "layer <> 'jvm'"),
    "pauses": ("layer = 'jvm'",),
}
_MAGIC = b"PAR1"


# Parquet files by table; a table of which nothing is published has none.
Files = dict[str, list[Path]]


def run_files(run: Run) -> Files:
    """What is published of a run; raises UserError where a file is damaged or not readable."""
    root = run.path.resolve()
    return {name: _parquet_files(root / name, pattern) for name, (pattern, _) in TABLES.items()}


def check_columns(table: str, path: Path, found: list[str]) -> None:
    """Raises UserError when a file lacks a column of its table."""
    missing = [column for column in TABLES[table][1] if column not in found]
    if missing:
        raise UserError(
            f"{path} lacks the column {missing[0]}",
            "another version of iostrata wrote it: read it with that one",
        )


def _parquet_files(folder: Path, pattern: str) -> list[Path]:
    try:
        files = sorted(folder.glob(pattern))
        for path in files:
            _check_whole(path)
    except PermissionError as error:
        raise UserError(f"{error.filename} cannot be read", "ask the run's owner") from error
    return files


def _check_whole(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = file.read(4)
        file.seek(max(0, size - 4))
        whole = size >= 12 and begin == _MAGIC and file.read(4) == _MAGIC
    if not whole:
        raise UserError(
            f"{path} is damaged: {size} bytes are not a whole Parquet file",
            "move it away to read the rest of the run",
        )
