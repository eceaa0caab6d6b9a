"""The golden process: Java wrote its segments, Rust made the Parquet, and these are its rows."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import duckdb

from iostrata.schema.events import COLUMNS, FLAG

GOLDEN = Path(__file__).resolve().parents[4] / "schema/golden/v0"
PARQUET = GOLDEN / "events.parquet"

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
    """Only where it differs from the bytes moved."""
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
