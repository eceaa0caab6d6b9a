"""A run opened for reading: DuckDB over its Parquet files, nothing else in reach.

Views: `events`, `sums` (kind sum), `calls` (kind call), `pauses` (of whole JVMs, which are no I/O
in neither of the two), `processes`, `system` (what each host did, one row a second); columns as in
schema/events.toml, times in integer ns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb

from iostrata.errors import UserError
from iostrata.store.files import TABLES, VIEWS, Files, check_columns, run_files
from iostrata.store.limits import memory, spill_space
from iostrata.store.runs import Run

_SQL_TYPES = {
    "string": "VARCHAR",
    "i64": "BIGINT",
    "i32": "INTEGER",
    "bool": "BOOLEAN",
    "f64": "DOUBLE",
}
_BATCH = 4096
_MORE = "give more memory with IOSTRATA_MEMORY, or a larger disk with TMPDIR"
_T = TypeVar("_T")
_READ_ONLY = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class OpenedRun:
    """Read-only SQL over one run, or over some of its files. Use as a context manager; raises
    UserError on damaged files.
    """

    def __init__(self, run: Run, files: Files | None = None) -> None:
        self.run = run
        self.files = run_files(run) if files is None else files
        self.memory = memory()
        self._gathered = False
        with ExitStack() as closing:
            self._folder = Path(closing.enter_context(TemporaryDirectory(prefix="iostrata-")))
            self._db = closing.enter_context(duckdb.connect(config=self._config()))
            self._thread = closing.enter_context(ThreadPoolExecutor(1))
            self._thread.submit(int).result()  # Ctrl-C while it starts would leave it behind
            closing.callback(self._db.interrupt)
            _views(self._db, self.files)
            self._limit()
            self._closing = closing.pop_all()

    def _config(self) -> dict[str, str | bool | int | float | list[str]]:
        """What does not fit into memory goes to a folder that leaves with the run."""
        return {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{self.memory}B",
            "temp_directory": str(self._folder),
        }

    def _limit(self) -> None:
        """From here on nothing but the run and the folder is in reach, and no setting changes."""
        readable = ", ".join(
            _quoted(f"{path}/") for path in (self.run.path.resolve(), self._folder)
        )
        # DuckDB 2.0 does not keep to this one where it is given as it connects
        self._db.execute(f"SET max_temp_directory_size = '{spill_space(self._folder)}B'")
        self._db.execute(f"SET allowed_directories = [{readable}]")
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
        self._closing.close()

    def gather_sums(self) -> None:
        """From now on reads `sums`, which lie scattered among calls, from one compressed table: for
        whoever asks many questions of them."""
        if not self._gathered:
            self.rows(f"ATTACH {_quoted(self._folder / 'sums')} AS gathered")
            self.rows("CREATE TABLE gathered.sums AS FROM sums")
            self.rows("CREATE OR REPLACE VIEW sums AS FROM gathered.sums")
            self._gathered = True

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query of ours as dictionaries."""
        names, rows = self._answer(sql, parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def stream(self, sql: str, parameters: list[Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query of ours, some thousand in memory at a time."""
        with self._db.cursor() as cursor:
            self._waited(cursor, lambda: cursor.execute(sql, parameters))
            while rows := self._waited(cursor, lambda: cursor.fetchmany(_BATCH)):
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
            return self._answer(statements[0])
        except duckdb.Error as error:
            raise UserError(_first_line(error), "see iostrata query --help") from error

    def _answer(
        self, query: str | duckdb.Statement, parameters: list[Any] | None = None
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        def ask() -> tuple[list[str], list[tuple[Any, ...]]]:
            cursor = self._db.execute(query, parameters)
            return [column[0] for column in cursor.description or []], cursor.fetchall()

        return self._waited(self._db, ask)

    def _waited(self, db: duckdb.DuckDBPyConnection, work: Callable[[], _T]) -> _T:
        """Work of a connection, done where Ctrl-C is not: DuckDB sees it late or not at all."""
        asked = self._thread.submit(work)
        try:
            return asked.result()
        except KeyboardInterrupt:
            db.interrupt()
            while wait([asked], timeout=0.1).not_done:  # it may not have begun
                db.interrupt()
            raise
        except duckdb.OutOfMemoryException as error:
            raise UserError(_first_line(error), _MORE) from error


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


def _quoted(path: Path | str) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"


def _first_line(error: duckdb.Error) -> str:
    return str(error).strip().splitlines()[0]
