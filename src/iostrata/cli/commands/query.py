"""iostrata query"""

from __future__ import annotations

import csv
import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from iostrata.cli.arguments import StoreOption, command
from iostrata.cli.console import print_table
from iostrata.cli.opening import traced_run


class Format(StrEnum):
    """How rows are written."""

    table = "table"
    csv = "csv"
    json = "json"


@command(
    "iostrata query 'SELECT layer, sum(\"count\") FROM sums GROUP BY layer'",
    "iostrata query 'SELECT * FROM calls WHERE dur > 1e9' --format csv > slow.csv",
    "iostrata query 'DESCRIBE events'     the columns",
)
def query(
    sql: Annotated[str, typer.Argument(help="One SELECT (DuckDB's SQL).", show_default=False)],
    run: Annotated[str | None, typer.Option(help="Name of a run; the latest by default.")] = None,
    store: StoreOption = None,
    format: Annotated[Format, typer.Option(help="How rows are written.")] = Format.table,  # noqa: A002
) -> None:
    """Answers a question about a run in SQL.

    Views are sums (totals of every call), calls (one row per call that was recorded individually),
    events (both), processes, children (of these, not traced), threads (of these, with their CPU
    time), usage (of each process, one row per second), system (likewise of each host), devices (of
    each block device that is mounted) and pauses.
    Times are in ns, sizes in bytes; flag 1 marks calls that are nested in a call of the same layer.
    The SQL can read the run and nothing else, and cannot write.
    """
    with traced_run(store, run) as traced:
        names, rows = traced.opened.user_query(sql)
    if format is Format.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    elif format is Format.json:
        json.dump([dict(zip(names, row, strict=False)) for row in rows], sys.stdout, default=str)
        print()
    else:
        right = {i for i in range(len(names)) if any(isinstance(row[i], int) for row in rows)}
        print_table(names, [[_cell(value) for value in row] for row in rows], right)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
