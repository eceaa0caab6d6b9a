"""A run opened for reading: DuckDB over its Parquet files, nothing else in reach.

Views: `events`, `sums` (kind sum), `calls` (kind call), `pauses` (of whole JVMs, which are no I/O
in neither of the two), `processes`, `children` (that they have waited for), `threads` (what each
took that made a call), `usage` (what each process took, one row a second), `system` (what each host
did, likewise), `devices` (what each block device did, likewise); columns as in schema/events.toml,
by the names of `schema.columns`, times in integer ns.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeVar

import duckdb

from iostrata.errors import UserError
from iostrata.schema.columns import READ_AS
from iostrata.schema.types import TYPES
from iostrata.store.files import (
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
    size_of,
)
from iostrata.store.limits import memory, spill_space
from iostrata.store.missing import bad_files, incomplete
from iostrata.store.oddities import oddity
from iostrata.store.runs import Run, check_version

# What reading damaged values comes to, where it does not come to an error of DuckDB.
_PUZZLED = (duckdb.Error, ArithmeticError, LookupError, TypeError, ValueError)
# What a user's query comes to that does not fit the tables.
_WRONG_QUERY = (duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException)
_BATCH = 4096
_ODD = "it is damaged, or made to do harm"
_MORE = "give more memory with IOSTRATA_MEMORY, or a larger disk with TMPDIR"
_T = TypeVar("_T")
_READ_ONLY = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class OpenedRun:
    """Read-only SQL over one run, or over some of its files. Use as a context manager: else
    it is closed when it is no longer in use.

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
        self.memory = memory(size_of(self.files))
        self._gathered = False
        with ExitStack() as closing:
            self._folder = Path(closing.enter_context(TemporaryDirectory(prefix="iostrata-")))
            self._db = closing.enter_context(duckdb.connect(config=self._config()))
            self._thread = closing.enter_context(ThreadPoolExecutor(1))
            self._thread.submit(int).result()  # Ctrl-C while it starts would leave it behind
            closing.callback(self._db.interrupt)
            self._views(judged)
            self._limit()
            self.incomplete = self._missing(judged, whole=files is None)
            # whoever forgets to close it leaves nothing behind
            self._close = weakref.finalize(self, closing.pop_all().close)

    def _config(self) -> dict[str, str | bool | int | float | list[str]]:
        """What does not fit into memory goes to a folder that leaves with the run."""
        return {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{self.memory}B",
            "temp_directory": str(self._folder),
            "python_enable_replacements": False,  # a query sees the run, and no variable of ours
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

    def _missing(self, judged: Judged, whole: bool) -> list[str]:
        """Of a whole run also hosts and processes, of some files only what is wrong with them."""
        if not whole:
            return bad_files(self.run, judged)
        try:
            return incomplete(self.run, judged, self.rows)
        except duckdb.Error as error:
            self._blame(error)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        try:
            if isinstance(error, Exception) and not isinstance(error, UserError):
                self._doubt(error)
        finally:
            self.close()
        if isinstance(error, _PUZZLED):
            self._blame(error)

    def close(self) -> None:
        """Ends it; a second time does nothing."""
        self._close()

    def _doubt(self, error: Exception) -> None:
        """Raises UserError where the run has values that no trace has."""
        try:
            odd = oddity(self.rows)
        except (duckdb.Error, UserError):
            return  # a file that cannot be read is another matter
        if odd:
            raise UserError(
                f"run {self.run.name} has values that no trace has: {odd}", _ODD
            ) from error

    def _blame(self, error: Exception) -> None:
        """Raises UserError where the error came from a damaged file, or from none being left."""
        if not self.run.path.is_dir():
            raise gone(self.run) from error
        for table, paths in self.files.items():
            for path in paths:
                bad = look_inside(table, path)
                if bad is not None:
                    raise UserError(f"{bad.path} {bad.why}", bad.remedy) from error

    def gather_sums(self) -> None:
        """From now on reads `sums`, which lie scattered among calls, from one compressed table: for
        whoever asks many questions of them."""
        if not self._gathered:
            self.rows(f"ATTACH {_quoted(self._folder / 'sums')} AS gathered")
            self.rows("CREATE TABLE gathered.sums AS FROM sums")
            self.rows("CREATE OR REPLACE VIEW sums AS FROM gathered.sums")
            self._gathered = True

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Another connection to the same views, which ends with this run."""
        return self._db.cursor()

    def rows(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query of ours as dictionaries."""
        with self._sensible():
            names, rows = self._answer(sql, parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def stream(self, sql: str, parameters: list[Any] | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows of a query of ours, some thousand in memory at a time."""
        with self._sensible(), self._db.cursor() as cursor:
            self._waited(cursor, lambda: cursor.execute(sql, parameters))
            while rows := self._waited(cursor, lambda: cursor.fetchmany(_BATCH)):
                yield from rows

    @contextmanager
    def _sensible(self) -> Iterator[None]:
        """Numbers that no sum has room for are a run's fault."""
        try:
            yield
        except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
            message = f"run {self.run.name} has numbers that no trace has: {first_line(error)}"
            raise UserError(message, _ODD) from error

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
            return self._answer(statements[0])
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
            raise UserError(first_line(error), _MORE) from error


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
        (f'"{name}"' if name in there else f"NULL::{TYPES[kind].duckdb}")
        + f' AS "{READ_AS.get(name, name)}"'
        for name, kind in TABLES[table][1].items()
    )


def _texts(paths: list[Path]) -> str:
    return f"[{', '.join(map(_quoted, paths))}]"


def _quoted(path: Path | str) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"
