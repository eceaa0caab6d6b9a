"""A run opened for reading: DuckDB over its Parquet files, nothing else in reach.

Views: `events`, `sums` (kind sum), `calls` (kind call), `pauses` (of whole JVMs, which are no I/O
in neither of the two), `processes`, `system` (what each host did, one row a second); columns as in
schema/events.toml, times in integer ns.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from iostrata.errors import UserError
from iostrata.schema.events import COLUMNS, PROCESS_COLUMNS, SYSTEM_COLUMNS
from iostrata.store.runs import Run

_SQL_TYPES = {
    "string": "VARCHAR",
    "i64": "BIGINT",
    "i32": "INTEGER",
    "bool": "BOOLEAN",
    "f64": "DOUBLE",
}
_MAGIC = b"PAR1"
_READ_ONLY = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class OpenedRun:
    """Read-only SQL over one run. Use as a context manager; raises UserError on damaged files."""

    def __init__(self, run: Run) -> None:
        self.run = run
        root = run.path.resolve()
        self.event_files = _parquet_files(root / "events", "*/*.parquet")
        self.process_files = _parquet_files(root / "processes", "*.parquet")
        self.system_files = _parquet_files(root / "system", "*/*.parquet")
        self._db = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "temp_directory": str(Path(tempfile.gettempdir()) / f"iostrata-{id(self):x}"),
            }
        )
        _view(self._db, "events", self.event_files, COLUMNS)
        _view(self._db, "processes", self.process_files, PROCESS_COLUMNS)
        _view(self._db, "system", self.system_files, SYSTEM_COLUMNS)
        for name, which in (
            ("sums", "kind = 'sum' AND layer <> 'jvm'"),
            ("calls", "kind = 'call' AND layer <> 'jvm'"),
            ("pauses", "layer = 'jvm'"),
        ):
            self._db.execute(f"CREATE VIEW {name} AS SELECT * FROM events WHERE {which}")
        quoted = f"{root}/".replace("'", "''")
        self._db.execute(f"SET allowed_directories = ['{quoted}']")
        self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._db.close()

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query of ours as dictionaries."""
        cursor = self._db.execute(sql, parameters)
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def user_query(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a user's single reading statement; raises UserError."""
        try:
            statements = self._db.extract_statements(sql)
        except duckdb.Error as error:
            raise UserError(_first_line(error), "see iostrata query --help") from error
        if len(statements) != 1:
            raise UserError(f"one statement at a time, not {len(statements)}")
        if statements[0].type not in _READ_ONLY:
            kind = statements[0].type.name
            raise UserError(f"{kind} is not allowed: a run is only read", "use SELECT")
        try:
            cursor = self._db.execute(statements[0])
            return [column[0] for column in cursor.description or []], cursor.fetchall()
        except duckdb.Error as error:
            raise UserError(_first_line(error), "see iostrata query --help") from error


def _view(
    db: duckdb.DuckDBPyConnection, name: str, files: list[Path], columns: dict[str, str]
) -> None:
    if files:
        try:
            found = db.read_parquet([str(path) for path in files], hive_partitioning=False)
            found.create_view(name)
        except duckdb.Error as error:
            raise UserError(_first_line(error), f"the files are in {files[0].parent}") from error
        missing = [column for column in columns if column not in found.columns]
        if missing:
            raise UserError(
                f"{files[0]} lacks the column {missing[0]}",
                "another version of iostrata wrote it: read it with that one",
            )
        return
    cells = ", ".join(f'NULL::{_SQL_TYPES[kind]} AS "{column}"' for column, kind in columns.items())
    db.execute(f"CREATE VIEW {name} AS SELECT {cells} WHERE false")


def _parquet_files(folder: Path, pattern: str) -> list[Path]:
    """The published files, each with both ends of the format in place; raises UserError."""
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


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().splitlines()[0]
