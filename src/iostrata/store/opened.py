"""A run opened for reading: DuckDB over its Parquet files, nothing else in reach.

Views: `events`, `sums` (kind sum), `calls` (kind call), `pauses` (of whole JVMs, which are no I/O
in neither of the two), `processes`, `system` (what each host did, one row a second); columns as in
schema/events.toml, times in integer ns.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from iostrata.errors import UserError
from iostrata.store.files import TABLES, VIEWS, Files, check_columns, run_files
from iostrata.store.runs import Run

_SQL_TYPES = {
    "string": "VARCHAR",
    "i64": "BIGINT",
    "i32": "INTEGER",
    "bool": "BOOLEAN",
    "f64": "DOUBLE",
}
_BATCH = 4096
_READ_ONLY = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class OpenedRun:
    """Read-only SQL over one run, or over some of its files. Use as a context manager; raises
    UserError on damaged files.
    """

    def __init__(self, run: Run, files: Files | None = None) -> None:
        self.run = run
        self.files = run_files(run) if files is None else files
        self._db = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "temp_directory": str(Path(tempfile.gettempdir()) / f"iostrata-{id(self):x}"),
            }
        )
        _views(self._db, self.files)
        quoted = f"{run.path.resolve()}/".replace("'", "''")
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
        with _interruptible():
            cursor = self._db.execute(sql, parameters)
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def stream(self, sql: str, parameters: list[Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query of ours, some thousand in memory at a time."""
        with _interruptible(), self._db.cursor() as cursor:
            cursor.execute(sql, parameters)
            while rows := cursor.fetchmany(_BATCH):
                yield from rows

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


@contextmanager
def _interruptible() -> Iterator[None]:
    """DuckDB makes an error of its own of Ctrl-C."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


def _views(db: duckdb.DuckDBPyConnection, files: Files) -> None:
    for name in TABLES:
        _view(db, name, files.get(name, []))
    for name, conditions in VIEWS.items():
        where = " AND ".join(conditions)
        db.execute(f"CREATE VIEW {name} AS SELECT * FROM events WHERE {where}")


def _view(db: duckdb.DuckDBPyConnection, name: str, files: list[Path]) -> None:
    if files:
        try:
            found = db.read_parquet([str(path) for path in files], hive_partitioning=False)
            found.create_view(name)
        except duckdb.Error as error:
            raise UserError(_first_line(error), f"the files are in {files[0].parent}") from error
        check_columns(name, files[0], found.columns)
        return
    columns = TABLES[name][1].items()
    cells = ", ".join(f'NULL::{_SQL_TYPES[kind]} AS "{column}"' for column, kind in columns)
    db.execute(f"CREATE VIEW {name} AS SELECT {cells} WHERE false")


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().splitlines()[0]
