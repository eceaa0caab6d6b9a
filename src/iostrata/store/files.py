"""The files of a run: which there are, and which of them can be read, each judged before it is.

Everything that reads a run goes through here, so a damaged, foreign or newer file is met once.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from iostrata.errors import UserError
from iostrata.regular import open_regular
from iostrata.schema.events import (
    ADDED,
    CHILD_COLUMNS,
    COLUMNS,
    DEVICE_COLUMNS,
    PROCESS_COLUMNS,
    SYSTEM_COLUMNS,
    THREAD_COLUMNS,
    USAGE_COLUMNS,
    VERSION,
)
from iostrata.schema.types import TYPES
from iostrata.store.footers import MOST_FOOTER, wrong_footer
from iostrata.store.limits import SMALL_RUN, memory
from iostrata.store.runs import Run, owner_of
from iostrata.text import plural

# Tables of a run: where their files are below its folder, and their columns.
TABLES = {
    "events": ("HOST/*.parquet", COLUMNS),
    "processes": ("*.parquet", PROCESS_COLUMNS),
    "children": ("*.parquet", CHILD_COLUMNS),
    "threads": ("*.parquet", THREAD_COLUMNS),
    "usage": ("HOST/*.parquet", USAGE_COLUMNS),
    "system": ("HOST/*.parquet", SYSTEM_COLUMNS),
    "devices": ("HOST/*.parquet", DEVICE_COLUMNS),
}
_SECTION = {
    "events": "columns",
    "processes": "process_columns",
    "children": "child_columns",
    "threads": "thread_columns",
    "usage": "usage_columns",
    "system": "system_columns",
    "devices": "device_columns",
}
# What is a call or a sum of calls; pauses of whole JVMs are no I/O, and in neither of the two.
VIEWS = {
    "sums": ("kind = 'sum'", "layer <> 'jvm'"),
    "calls": ("kind = 'call'", "layer <> 'jvm'"),
    "pauses": ("layer = 'jvm'",),
}
# Key of the footer's metadata under which a file says the version of its schema; one that does not
# say it is older than version 1, and is judged by its columns.
VERSION_KEY = "iostrata.schema"
_MAGIC = b"PAR1"


# Parquet files by table; a table of which nothing is published has none.
Files = dict[str, list[Path]]


@dataclass(frozen=True)
class Part:
    """A file that can be read: the columns of its table that it has, and its rows."""

    path: Path
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class BadPart:
    """A file that cannot be read: what is wrong with it, and the way out."""

    path: Path
    why: str
    remedy: str


@dataclass(frozen=True)
class Judged:
    """The files of a run by table."""

    good: dict[str, list[Part]]
    bad: dict[str, list[BadPart]]

    def rows(self, table: str) -> int:
        """Of all files that can be read."""
        return sum(part.rows for part in self.good[table])

    def files(self) -> Files:
        """Those that can be read."""
        return {table: [part.path for part in parts] for table, parts in self.good.items()}


def run_files(run: Run) -> Files:
    """The published files of a run that can be read; raises UserError where there is none."""
    judged = judge(list_files(run))
    refuse(judged)
    return judged.files()


def refuse(judged: Judged) -> None:
    """Raises UserError when nothing is left to show."""
    for table in ("events", "processes"):
        bad = judged.bad[table]
        if bad and not any(judged.good[name] for name in ("events", table)):
            more = f" (and {plural(len(bad) - 1, 'more file')})" if len(bad) > 1 else ""
            raise UserError(f"{bad[0].path} {bad[0].why}{more}", bad[0].remedy)


def size_of(files: Files) -> int:
    """Bytes of all files; of one that has just gone, none."""
    total = 0
    for path in (path for paths in files.values() for path in paths):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def list_files(run: Run) -> Files:
    """What is published of a run; a folder that cannot be listed stands for its files.

    Raises UserError where there is no run any more.
    """
    root = run.path.resolve()
    if not root.is_dir():
        raise gone(run)
    return {name: sorted(_listed(root / name, of.count("/"))) for name, (of, _) in TABLES.items()}


def gone(run: Run) -> UserError:
    """The run was removed while somebody read it."""
    return UserError(f"run {run.name} is gone: there is no {run.path}", "iostrata runs lists all")


def _listed(folder: Path, deeper: int) -> list[Path]:
    """Files below a folder that are Parquet by name; what is being written has another name."""
    try:
        entries = list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [folder]
    if deeper:
        return [path for entry in entries for path in _listed(entry, deeper - 1)]
    return [path for path in entries if path.suffix == ".parquet"]


def judge(files: Files) -> Judged:
    """Which files can be read, from their first and last bytes and what their footers say."""
    judged = Judged({name: [] for name in TABLES}, {name: [] for name in TABLES})
    with _limited(SMALL_RUN) as db:
        for table, paths in files.items():
            whole = []
            for path in paths:
                wrong = _wrong_bytes(path)
                if wrong is None:
                    whole.append(path)
                else:
                    judged.bad[table].append(wrong)
            for one in _footers(db, table, whole):
                if isinstance(one, Part):
                    judged.good[table].append(one)
                else:
                    judged.bad[table].append(one)
    return judged


def look_inside(table: str, path: Path) -> BadPart | None:
    """What is wrong with a file whose footer is right, found by reading all of it."""
    judged = judge({table: [path]})
    if judged.bad[table]:
        return judged.bad[table][0]
    columns = ", ".join(f'"{name}"' for name in judged.good[table][0].columns)
    try:
        with _limited(memory(size_of({table: [path]}))) as db:
            db.execute(f"SELECT bit_xor(hash({columns})) FROM {_SCAN}", [[str(path)]]).fetchall()
    except duckdb.Error as error:
        return BadPart(path, f"is damaged: {first_line(error)}", _MOVE)
    return None


def _limited(most: int) -> duckdb.DuckDBPyConnection:
    """A connection that takes no more than so many bytes for the content of files."""
    return duckdb.connect(config={"memory_limit": f"{most}B"})


def first_line(error: Exception) -> str:
    """An error of DuckDB as one line."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


_SCAN = "read_parquet(?, hive_partitioning = false)"
_MOVE = "copy it again, or move it away"


def _wrong_bytes(path: Path) -> BadPart | None:
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            begin = file.read(4)
            file.seek(max(0, size - 8))
            end = file.read(8)
            length = int.from_bytes(end[:4], "little")
            whole = size >= 12 and end[4:] == _MAGIC
            file.seek(max(0, size - 8 - length))
            footer = file.read(min(length, MOST_FOOTER)) if whole else b""
    except IsADirectoryError:
        return BadPart(path, "is a folder, not a Parquet file", "move it away")
    except OSError as error:
        remedy = "move it away" if error.errno == errno.EINVAL else owner_of(path)
        return BadPart(path, f"cannot be read: {error.strerror}", remedy)
    if size == 0:
        return BadPart(path, "is empty: 0 bytes", _MOVE)
    if begin != _MAGIC:
        return BadPart(path, f"is no Parquet file: it begins with {begin!r}", "move it away")
    if not whole:
        return BadPart(path, f"is cut short: {size} bytes without the end of a Parquet file", _MOVE)
    wrong = wrong_footer(footer, min(length, size))
    return BadPart(path, f"is damaged: its footer {wrong}", _MOVE) if wrong else None


def _footers(
    db: duckdb.DuckDBPyConnection, table: str, paths: list[Path]
) -> Iterable[Part | BadPart]:
    """All footers are read at once; where that fails, those of either half."""
    if not paths:
        return []
    try:
        found = db.execute(_FOOTERS, [list(map(str, paths))]).fetchall()
    except duckdb.Error as error:
        if len(paths) == 1:
            return [BadPart(paths[0], f"is damaged: {first_line(error)}", _MOVE)]
        middle = len(paths) // 2
        return [*_footers(db, table, paths[:middle]), *_footers(db, table, paths[middle:])]
    return [_footer(table, Path(path), *facts) for path, *facts in found]


_FOOTERS = f"""
    SELECT file_name, columns, version, num_rows, coalesce(created_by, '')
    FROM (
        SELECT file_name, map_from_entries(list((name, coalesce(duckdb_type, '')))) AS columns
        FROM (SELECT DISTINCT ON (file_name, name) * FROM parquet_schema($1) WHERE column_id > 0)
        GROUP BY file_name)
    JOIN parquet_file_metadata($1) USING (file_name)
    LEFT JOIN (
        SELECT file_name, max(value) AS version FROM parquet_kv_metadata($1)
        WHERE key = '{VERSION_KEY}'::BLOB GROUP BY file_name) USING (file_name)
    ORDER BY file_name"""


def _footer(
    table: str, path: Path, types: dict[str, str], version: bytes | None, rows: int, by: str
) -> Part | BadPart:
    if version is not None and version != str(VERSION).encode():
        said = version.decode("ascii", "backslashreplace")
        why = f"is of schema version {said}, this iostrata reads version {VERSION}"
        return BadPart(path, why, _by_another(by))
    columns = TABLES[table][1]
    for name, kind in columns.items():
        found = types.get(name)
        if found is None and name in ADDED.get(_SECTION[table], ()):
            continue
        if found is None:
            return BadPart(path, f"lacks the column {name}", _by_another(by))
        if found != TYPES[kind].duckdb:
            why = f"has {found} in the column {name}, not {TYPES[kind].duckdb}"
            return BadPart(path, why, _by_another(by))
    return Part(path, tuple(name for name in columns if name in types), rows)


def _by_another(by: str) -> str:
    if by.startswith("iostrata "):
        return f"{by} wrote it: read it with that version"
    return f"{by or 'another program'} wrote it, not iostrata: move it away"
