"""Tables as RFC 4180 has them, read back with a reader that is strict about it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.schema import columns as read
from iostrata.show.export.tests.runs import CALLS, HOSTILE, TASK, call, export, make


def table(store: Path, **chosen: Any) -> list[dict[str, str]]:
    written, data = export(store, "csv", **chosen)
    text = data.decode()
    assert text.endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert written == len(rows)
    return rows


def test_calls_have_all_columns_and_nulls_are_empty(tmp_path: Path) -> None:
    make(tmp_path)
    rows = table(tmp_path)
    assert list(rows[0]) == list(read.EVENTS)
    assert [(row["op"], row["kind"], row["dur"], row["bytes"]) for row in rows] == [
        ("write", "call", "100000000", "4096"),
        ("write", "call", "80000000", "4096"),
        ("send", "call", "5000000", "4200"),
        ("receive_block", "call", "50000000", "4096"),
        ("write", "call", "10000000", "4096"),
        ("read", "call", "1000000", "10"),
        ("open", "call", "1000000", "0"),
        ("read", "unfinished", "20000000", ""),
    ]
    assert len(rows) == CALLS


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        *(("sums", read.EVENTS, 7), ("processes", read.PROCESSES, 2)),
        *(("usage", read.USAGE, 3), ("system", read.SYSTEM, 2)),
    ],
)
def test_other_tables(tmp_path: Path, name: str, columns: dict[str, str], rows: int) -> None:
    make(tmp_path)
    found = table(tmp_path, table=name)
    assert list(found[0]) == list(columns)
    assert len(found) == rows


def test_options_choose_where_the_table_has_them(tmp_path: Path) -> None:
    make(tmp_path)
    assert len(table(tmp_path, table="sums", task=TASK, layers=("java",))) == 3
    assert len(table(tmp_path, table="processes", job="job_1_0001")) == 1
    assert [row["mem_used"] for row in table(tmp_path, table="system", begin=1.5)] == ["2000"]
    assert len(table(tmp_path, table="usage", begin=1.5, end=2.5)) == 2
    assert table(tmp_path, table="system", end=0) == []
    with pytest.raises(UserError, match="--layer does not apply to the table system"):
        export(tmp_path, "csv", table="system", layers=("java",))


def test_what_names_hold_stays_in_their_cell(tmp_path: Path) -> None:
    make(tmp_path, [call("java.read", 1, 0, 1, target=HOSTILE, thread="=1+1,\r\n")])
    (row,) = table(tmp_path)
    assert (row["target"], row["thread"]) == (HOSTILE, "=1+1,\r\n")
