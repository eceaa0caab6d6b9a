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
from iostrata.store.files import (
    SQL_TYPES,
    TABLES,
    VIEWS,
    Files,
    Judged,
    Part,
    first_line,
    gone,
    judge,
    list_files,
    look_inside,
    refuse,
)
from iostrata.store.missing import bad_files, incomplete
from iostrata.store.runs import Run, check_version

# What reading damaged values comes to, where it does not come to an error of DuckDB.
_PUZZLED = (duckdb.Error, ArithmeticError, LookupError, TypeError, ValueError)
# What a user's query comes to that does not fit the tables.
_WRONG_QUERY = (duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException)
_BATCH = 4096
_READ_ONLY = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class OpenedRun:
    """Read-only SQL over one run, or over some of its files. Use as a context manager.

    `incomplete` says, a line each, what of the run is not in the views, `skipped` which files of
    events. Raises UserError where nothing is left to show.
    """

    def __init__(self, run: Run, files: Files | None = None) -> None:
        check_version(run)
        self.run = run
        judged = judge(list_files(run) if files is None else files)
        if files is None:
            refuse(judged)
        self.files = judged.files()
        self.skipped = [part.path for part in judged.bad["events"]]
        self._db = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "temp_directory": str(Path(tempfile.gettempdir()) / f"iostrata-{id(self):x}"),
            }
        )
        self._views(judged)
        quoted = f"{run.path.resolve()}/".replace("'", "''")
        self._db.execute(f"SET allowed_directories = ['{quoted}']")
        self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")
        if files is not None:
            self.incomplete = bad_files(run, judged)
            return
        try:
            self.incomplete = incomplete(run, judged, self.rows)
        except duckdb.Error as error:
            self._blame(error)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._db.close()
        if isinstance(error, _PUZZLED):
            self._blame(error)

    def _blame(self, error: Exception) -> None:
        """Raises UserError where the error came from a damaged file, or from none being left."""
        if not self.run.path.is_dir():
            raise gone(self.run) from error
        for table, paths in self.files.items():
            for path in paths:
                bad = look_inside(table, path)
                if bad is not None:
                    raise UserError(f"{bad.path} {bad.why}", bad.remedy) from error

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
            raise UserError(first_line(error), "see iostrata query --help") from error
        if len(statements) != 1:
            raise UserError(f"one statement at a time, not {len(statements)}")
        if statements[0].type not in _READ_ONLY:
            kind = statements[0].type.name
            raise UserError(f"{kind} is not allowed: a run is only read", "use SELECT")
        try:
            cursor = self._db.execute(statements[0])
            return [column[0] for column in cursor.description or []], cursor.fetchall()
        except duckdb.Error as error:
            if not isinstance(error, _WRONG_QUERY):
                self._blame(error)
            raise UserError(first_line(error), "see iostrata query --help") from error

    def _views(self, judged: Judged) -> None:
        for name in TABLES:
            self._db.execute(f"CREATE VIEW {name} AS {_select(name, judged.good[name])}")
        for name, conditions in VIEWS.items():
            where = " AND ".join(conditions)
            self._db.execute(f"CREATE VIEW {name} AS SELECT * FROM events WHERE {where}")


@contextmanager
def _interruptible() -> Iterator[None]:
    """DuckDB makes an error of its own of Ctrl-C."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


def _select(table: str, parts: list[Part]) -> str:
    """All rows of a table; null in a column that a part lacks because it is older than that."""
    alike: dict[tuple[str, ...], list[Path]] = {}
    for part in parts:
        alike.setdefault(part.columns, []).append(part.path)
    selects = [
        f"SELECT {_cells(table, columns)} FROM read_parquet({_texts(paths)}, "
        "hive_partitioning = false)"
        for columns, paths in alike.items()
    ]
    return " UNION ALL ".join(selects) or f"SELECT {_cells(table, ())} WHERE false"


def _cells(table: str, there: tuple[str, ...]) -> str:
    return ", ".join(
        f'"{name}"' if name in there else f'NULL::{SQL_TYPES[kind]} AS "{name}"'
        for name, kind in TABLES[table][1].items()
    )


def _texts(paths: list[Path]) -> str:
    quoted = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"[{quoted}]"
