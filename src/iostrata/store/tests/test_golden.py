"""The golden process: Java wrote its segments, Rust made the Parquet, and these are its rows."""

from __future__ import annotations

import errno
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iostrata.errors import UserError
from iostrata.schema import columns
from iostrata.schema.events import ADDED, COLUMNS, FLAG
from iostrata.store.files import VERSION_KEY
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import Run, find_run
from iostrata.store.tests.made import make_run

GOLDEN = Path(__file__).resolve().parents[4] / "schema/golden/v1"
PARQUET = GOLDEN / "events.parquet"
PART = "events/host=golden-host/part-000001.parquet"

SAID = json.loads((GOLDEN / "events.json").read_text("utf-8"))


def rows(kind: str) -> list[dict[str, Any]]:
    cursor = duckdb.execute(
        "SELECT * FROM read_parquet(?) WHERE kind = ? ORDER BY start, span", [str(PARQUET), kind]
    )
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def slots(kind: str) -> list[dict[str, Any]]:
    found = [slot for slot in SAID["slots"] if slot["kind"] == kind]
    return sorted(found, key=lambda slot: (slot["start"], slot["span"]))


def told(slot: dict[str, Any], *fields: str) -> dict[str, Any]:
    """Fields of a slot as the store writes them: no offset and no block are null."""
    target = slot["target"] or {"category": None, "name": None, "block": -1}
    given = {**slot, "category": target["category"], "target": target["name"]}
    given["block"] = None if target["block"] < 0 else target["block"]
    given["offset"] = None if slot.get("offset", -1) < 0 else slot["offset"]
    given["asked"] = asked(slot)
    return {field: given[field] for field in fields}


def asked(slot: dict[str, Any]) -> int | None:
    """Only where it differs from the bytes that were transferred."""
    value: int | None = slot.get("asked")
    return None if value == slot.get("bytes") else value


def only(row: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {field: row[field] for field in fields}


def test_columns_are_those_of_the_contract() -> None:
    cursor = duckdb.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(PARQUET)])
    assert [column[0] for column in cursor.description or []] == list(COLUMNS)


def test_calls() -> None:
    fields: tuple[str, ...] = ("point", "dur", "bytes", "offset", "asked", "span", "flags")
    fields += ("category", "target", "block")
    assert [only(row, *fields) for row in rows("call")] == [
        told(slot, *fields) for slot in slots("call")
    ]
    parents = zip(rows("call"), slots("call"), strict=True)
    assert all(row["parent"] == slot["parent"] for row, slot in parents if slot["parent"])


def test_times_are_shifted_by_one_anchor() -> None:
    shifts = {
        row["start"] - slot["start"]
        for kind in ("call", "begin", "gap")
        for row, slot in zip(rows(kind), slots(kind), strict=True)
    }
    assert len(shifts) == 1


def test_errors_have_names() -> None:
    said = [row["error"] for row in rows("call") if row["flags"] & FLAG["errno"]]
    expected = [s["ret"] for s in slots("call") if s["flags"] & FLAG["errno"]]
    assert said == [errno.errorcode[number] for number in expected]
    assert all(row["error"] for row in rows("call") if row["flags"] & FLAG["error"])


def test_contexts_become_columns() -> None:
    """Twice the thread was in the context of a client, else in that of a task."""
    for row, slot in zip(rows("call"), slots("call"), strict=True):
        in_client = 1740 <= slot["start"] < 1860 or 1870 <= slot["start"] < 1900
        assert row["phase"] == (None if in_client else "map")


def test_causes_become_parents() -> None:
    """A block read for another process, and a read that a thread did for the block read later."""
    block_read, read = (slot for slot in slots("call") if slot["start"] in (1750, 1880))
    found = {slot["start"]: row for slot, row in zip(slots("call"), rows("call"), strict=True)}
    columns = ("parent", "parent_proc", "trace")
    assert [found[1750][name] for name in columns] == [(9 << 40) + 5, 0x8888, 0x7777]
    assert [found[1880][name] for name in columns] == [block_read["span"], None, 0x7777]
    assert read["target"] == block_read["target"]
    own = found[1700]["proc"]
    assert [found[1700][name] for name in columns] == [None, None, own]


def test_waiting_is_a_link() -> None:
    block_read = next(slot for slot in slots("call") if slot["start"] == 1750)
    (link,) = rows("link")
    shift = rows("call")[0]["start"] - slots("call")[0]["start"]
    assert (link["start"] - shift, link["dur"]) == (1840, 30)
    assert (link["point"], link["parent"]) == (1, block_read["span"])


def test_sums() -> None:
    fields = ("count", "bytes", "asked", "errors", "timed", "timed_dur", "min", "max")
    keys = ("point", "category", "size_class", "flags")

    def key(row: dict[str, Any]) -> list[Any]:
        return [row[name] for name in keys]

    assert [only(row, *keys, *fields) for row in sorted(rows("sum"), key=key)] == [
        {name: row[name] for name in (*keys, *fields)} | {"asked": asked(row)}
        for row in sorted(SAID["rows"], key=key)
    ]


def test_what_was_open_is_unfinished() -> None:
    fields = ("point", "span", "category", "target", "block")
    opened = sorted(SAID["open"], key=lambda each: each["start"])
    assert [only(row, *fields) for row in rows("unfinished")] == [
        told(each, *fields) for each in opened
    ]


def test_every_file_says_its_version() -> None:
    """Byte by byte: magic, version, kind."""
    said = {
        name: struct.unpack("<4sHH", (GOLDEN / name).read_bytes()[:8])
        for name in ("process/process", "process/dict-0", "process/1.seg", "control")
    }
    assert said == {
        name: (b"IOST", 1, kind)
        for kind, name in enumerate(("process/process", "process/dict-0", "process/1.seg"), 1)
    } | {"control": (b"IOST", 1, 4)}
    assert pq.read_metadata(PARQUET).metadata[VERSION_KEY.encode()] == b"1"


def run_of(store: Path, change: Callable[[pa.Table], pa.Table] = lambda rows: rows) -> Run:
    """A run whose one part is the golden one, changed; it says its version as before."""
    part = make_run(store, "r") / PART
    part.parent.mkdir(parents=True)
    rows = pq.read_table(PARQUET)
    pq.write_table(change(rows).replace_schema_metadata(rows.schema.metadata), part)
    return find_run(store, "r")


def replaced(rows: pa.Table, column: str, value: Any) -> pa.Table:
    place = rows.column_names.index(column)
    return rows.set_column(place, column, pa.array([value] * rows.num_rows))


def test_the_golden_part_is_a_part_of_a_run(tmp_path: Path) -> None:
    with OpenedRun(run_of(tmp_path)) as opened:
        assert opened.incomplete == []
        found = opened.rows("SELECT count(*) AS rows FROM events")
    assert found == [{"rows": pq.read_metadata(PARQUET).num_rows}]


def test_what_came_later_is_no_trouble(tmp_path: Path) -> None:
    """A column that is not known is not read; a layer and a category are names like others."""

    def later(rows: pa.Table) -> pa.Table:
        rows = replaced(replaced(rows, "layer", "mpi"), "category", "window")
        return rows.append_column("rank", pa.array([3] * rows.num_rows))

    with OpenedRun(run_of(tmp_path, later)) as opened:
        names, _ = opened.user_query("SELECT * FROM events LIMIT 0")
        found = opened.rows("SELECT DISTINCT layer, category FROM sums")
        assert opened.incomplete == []
    assert names == list(columns.EVENTS)
    assert found == [{"layer": "mpi", "category": "window"}]


def test_a_column_that_came_later_is_null_in_older_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ADDED, "columns", ("rank",))
    monkeypatch.setitem(COLUMNS, "rank", "i32")
    ranked = run_of(tmp_path, lambda rows: rows.append_column("rank", ranks(rows, 3)))
    older = ranked.path / PART.replace("000001", "000002")
    shutil.copy(PARQUET, older)
    with OpenedRun(ranked) as opened:
        found = opened.rows("SELECT rank, count(*) > 0 AS there FROM events GROUP BY 1 ORDER BY 1")
    assert found == [{"rank": 3, "there": True}, {"rank": None, "there": True}]


def ranks(rows: pa.Table, value: int) -> pa.Array:
    return pa.array([value] * rows.num_rows, pa.int32())


def test_a_newer_part_is_refused_in_one_line(tmp_path: Path) -> None:
    part = make_run(tmp_path, "r") / PART
    part.parent.mkdir(parents=True)
    pq.write_table(pq.read_table(PARQUET).replace_schema_metadata({VERSION_KEY: "2"}), part)
    with pytest.raises(UserError) as caught:
        OpenedRun(find_run(tmp_path, "r"))
    assert caught.value.message == f"{part} is of schema version 2, this iostrata reads version 1"
