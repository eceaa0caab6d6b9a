"""The Parquet files of an imported run, made of lines of text and tables of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

import duckdb

from iostrata.errors import UserError
from iostrata.importers.names import CallTarget
from iostrata.records import Record
from iostrata.schema.events import COLUMNS, FLAG, PROCESS_COLUMNS, VERSION
from iostrata.schema.types import TYPES
from iostrata.store.files import VERSION_KEY
from iostrata.text import storable

SECOND = 10**9
UNKNOWN_SIZE = 255  # [size_class] of schema/events.toml
_BATCH = 10_000

# A line of rows.csv. `place`: the offset of a call, the size class of a sum; `bytes` of a call are
# empty where they are not known. `count`, `time` and `most` are of sums.
ROWS = {
    **dict.fromkeys(("kind", "layer", "op", "error"), "VARCHAR"),
    **dict.fromkeys(("flags", "thread"), "INTEGER"),
    **dict.fromkeys(("start", "dur"), "BIGINT"),
    "target": "INTEGER",
    **dict.fromkeys(("place", "bytes", "asked", "count", "time", "most"), "BIGINT"),
}


@dataclass
class Thread:
    """Whose calls: rows of `processes` are made of the threads that have a `proc`.

    `end` is 0 where nobody saw it end; `exit` as in the table. A row that stands for several
    processes has neither `proc` nor `pid`.
    """

    proc: int | None
    pid: int | None
    tid: int | None
    host: str = ""
    role: str = "process"
    name: str = ""
    main: str = ""
    job: str = ""
    task: str = ""
    uid: int | None = None
    start: int = 0
    end: int = 0
    exit: str = "ended"


class TracedCall(Record, frozen=True):
    """What a call did; `size` in bytes, None where the trace does not tell; `error` an errno.

    `kind` is `call` or `unfinished`.
    """

    op: str
    target: CallTarget | None = None
    offset: int | None = None
    size: int | None = 0
    asked: int | None = None
    error: str = ""
    inner: bool = False
    kind: str = "call"
    layer: str = "posix"


class SummedCalls(Record, frozen=True):
    """Calls that are known together only: `count` of them moved `size` bytes in `time` ns.

    `most` is the longest; `estimated`: the time is a share of that of several operations.
    """

    layer: str
    op: str
    target: CallTarget
    count: int
    size: int
    size_class: int | None
    time: int
    most: int | None = None
    estimated: bool = False


def write(
    db: duckdb.DuckDBPyConnection,
    folder: Path,
    run: str,
    targets: list[CallTarget],
    threads: list[Thread],
) -> int:
    """Writes `events` and `processes` into `folder` from its rows.csv; rows of events."""
    _fill(db, "targets", CallTarget, targets)
    _fill(db, "threads", Thread, threads)
    db.execute(
        "CREATE VIEW rows AS SELECT *, row_number() OVER () AS span FROM read_csv("
        f"{_quoted(folder / 'rows.csv')}, columns = {ROWS}, header = false, auto_detect = false, "
        "delim = ',', quote = '', escape = '', nullstr = '', max_line_size = 4096)"
    )
    _check_totals(db)
    _copy(db, _PROCESSES, PROCESS_COLUMNS, run, folder / "processes/host=imported.parquet")
    return _copy(db, _EVENTS, COLUMNS, run, folder / "events/host=imported/part-000001.parquet")


def _copy(
    db: duckdb.DuckDBPyConnection, query: str, columns: dict[str, str], run: str, path: Path
) -> int:
    """Writes the rows of a query as a table of the store; how many they are."""
    path.parent.mkdir(parents=True)
    cells = ", ".join(
        f'"{name}"::{TYPES[kind].duckdb} AS "{name}"' for name, kind in columns.items()
    )
    written = db.execute(
        f"COPY (SELECT {cells} FROM (SELECT {_quoted(run)} AS run, * FROM ({query}))) "
        f"TO {_quoted(path)} (FORMAT parquet, COMPRESSION zstd, "
        f"KV_METADATA {{{_quoted(VERSION_KEY)}: {_quoted(VERSION)}}})"
    ).fetchone()
    return int(written[0]) if written else 0


def _quoted(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _fill(db: duckdb.DuckDBPyConnection, table: str, kind: type, rows: Sequence[object]) -> None:
    """A table with a column for each field of `kind`, each row with its number."""
    fields = get_type_hints(kind)
    kinds = ["VARCHAR" if hint is str else "BIGINT" for hint in fields.values()]
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(fields, kinds, strict=True))
    db.execute(f"CREATE TABLE {table} (number INTEGER, {columns})")
    cells = ", ".join(f"unnest(${i}::{kind}[])" for i, kind in enumerate(kinds, 2))
    for begin in range(0, len(rows), _BATCH):
        batch = rows[begin : begin + _BATCH]
        lists = [[_storable(getattr(row, name)) for row in batch] for name in fields]
        numbers = list(range(begin, begin + len(batch)))
        db.execute(f"INSERT INTO {table} SELECT unnest($1::INTEGER[]), {cells}", [numbers, *lists])


def _storable(cell: Any) -> Any:
    """Names that are not known are null."""
    return (storable(cell) or None) if isinstance(cell, str) else cell


def _check_totals(db: duckdb.DuckDBPyConnection) -> None:
    """Raises UserError for a trace whose sums do not fit into 64 bits."""
    row = db.execute(
        "SELECT max(greatest(total_bytes, total_asked, total_time, total_calls)) FROM ("
        'SELECT sum(bytes) AS total_bytes, sum(asked) AS total_asked, sum("count") AS total_calls, '
        "sum(coalesce(time, dur)) AS total_time FROM rows)"
    ).fetchone()
    if row and row[0] is not None and row[0] >= 1 << 63:
        raise UserError(
            f"the trace adds up to {row[0]}, more than any has: bytes, calls or ns",
            "it is damaged",
        )


_KEPT = FLAG["inner"] | FLAG["double_counted"]
_CLASS = (
    f"CASE WHEN bytes IS NULL THEN {UNKNOWN_SIZE} WHEN bytes = 0 THEN 0 ELSE length(bin(bytes)) END"
)
# Calls that ended within the same second of their thread are one row, as a collector would see
# them that looks once a second. Those that came as sums are taken as they are: calls beside them
# are detail of the same.
_ADDED = f"""
    SELECT 'sum' AS kind, layer, op, flags & {_KEPT} AS flags, thread, NULL AS target, category,
        min(r.start) AS start, max(r.start + coalesce(dur, 0)) - min(r.start) AS dur,
        coalesce(sum(bytes), 0) AS bytes, sum(coalesce(asked, bytes)) AS asked,
        sum("count") AS "count", count(*) FILTER (error IS NOT NULL) AS errors,
        count(dur) AS timed, coalesce(sum(dur), 0) AS timed_dur, NULL AS weight, min(dur) AS min,
        max(dur) AS max, {_CLASS} AS size_class, NULL AS "offset", NULL AS error, NULL AS span
    FROM rows r LEFT JOIN targets ON targets.number = r.target
    WHERE kind = 'call' AND NOT EXISTS (SELECT 1 FROM rows WHERE kind = 'sum')
    GROUP BY layer, op, flags & {_KEPT}, thread, category, size_class,
        (r.start + coalesce(dur, 0)) // {SECOND}"""
_GIVEN = f"""
    SELECT 'sum', layer, op, 0, thread, target, category, start, dur, bytes, bytes, "count", 0,
        CASE WHEN flags & {FLAG["estimated"]} = 0 THEN "count" ELSE 0 END, time,
        CASE WHEN flags & {FLAG["estimated"]} = 0 THEN NULL ELSE "count" END, NULL, most,
        coalesce(place, {UNKNOWN_SIZE}), NULL, NULL, NULL
    FROM rows LEFT JOIN targets ON targets.number = target WHERE kind = 'sum'"""
_CALLS = """
    SELECT kind, layer, op, flags, thread, target, category, start, dur, coalesce(bytes, 0), asked,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, place, error, span
    FROM rows LEFT JOIN targets ON targets.number = target WHERE kind <> 'sum'"""
_HOST = "coalesce(host, 'unknown')"  # streams of requests are compared by it: never null
_MADE = {
    **{field: f"h.{field}" for field in ("proc", "role", "pid", "tid", "job", "task")},
    "host": _HOST,
    "thread": "h.name",
    "target": "t.name",
    "block": "t.block",
    "peer": "t.peer",
    "asked": "nullif(e.asked, e.bytes)",
    "trace": "CASE WHEN e.kind <> 'sum' THEN h.proc END",
}
# Columns that nothing says anything of: who asked for a call, what caused it, what was sampled.
_UNKNOWN = ["point", "parent", "parent_proc", "owner", "phase"]
_UNKNOWN += ["spread", "inside", "anchor", "inclusion"]


def _cell(column: str) -> str:
    value = "NULL" if column in _UNKNOWN else _MADE.get(column, f'e."{column}"')
    return f'{value} AS "{column}"'


_EVENTS = f"""
    SELECT {", ".join(_cell(column) for column in COLUMNS if column != "run")}
    FROM ({_ADDED} UNION ALL {_GIVEN} UNION ALL {_CALLS}) e
    JOIN threads h ON h.number = e.thread LEFT JOIN targets t ON t.number = e.target
    ORDER BY e.thread, e.kind <> 'sum', e.start, e.span"""

# Processes of which nothing was lost on the way here; what is not in the trace, nobody knows.
_CONSTANT = {
    "traced": "true",
    **dict.fromkeys(("reason", "points_faulted"), "''"),
    **dict.fromkeys(("points_woven", "dropped", "folded", "lost", "refused"), "0"),
}
_FIRST = ("pid", "uid", "role", "main", "job", "task")


def _process_cell(column: str) -> str:
    value = _CONSTANT.get(column, "NULL")
    if column == "host":
        value = f"arg_min({_HOST}, number)"
    elif column in _FIRST:
        value = f'arg_min("{column}", number)'
    return f'{value} AS "{column}"'


_COUNTED = ("proc", "calls", "detail", "start", "end", "exit")
_PROCESSES = f"""
    WITH counted AS (
        SELECT proc, coalesce(sum("count") FILTER (kind = 'sum'), 0) AS summed,
            count(*) FILTER (kind = 'call') AS detail, min(rows.start) AS first,
            max(rows.start + coalesce(dur, 0)) AS last
        FROM rows JOIN threads ON threads.number = thread GROUP BY proc)
    SELECT proc, any_value(if(summed > 0, summed, detail)) AS calls, any_value(detail) AS detail,
        coalesce(nullif(min(start), 0), any_value(first)) AS start,
        CASE WHEN bool_or("exit" <> 'running')
            THEN coalesce(nullif(max("end"), 0), any_value(last)) END AS "end",
        arg_min("exit", number) AS "exit",
        {", ".join(_process_cell(c) for c in PROCESS_COLUMNS if c not in ("run", *_COUNTED))}
    FROM threads LEFT JOIN counted USING (proc) WHERE proc IS NOT NULL
    GROUP BY proc ORDER BY proc"""
