#!/usr/bin/env python3
"""Holds events.toml and the points to what their version froze: golden/vN/contract.json.

    python3 schema/frozen.py          exit 1 and say what differs, and what to do
    python3 schema/frozen.py --write  freeze what they say now; refused where a version is frozen

Standard library only. docs/decisions/0017-schema-version-1.md has the rules.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# What may only be added to: a reader that does not know a new one goes on without it.
OPEN = ("layer", "category", "kept", "process_counter")
# Likewise, but only at the end, and null where an older file lacks it.
TABLES = ("columns", "process_columns", "system_columns")
# Layouts with bytes that are 0 so far: a new field lies there, and 0 means that nobody wrote it.
PAGES = ("segment", "row", "dictionary", "process", "control")
# What stays word for word.
CLOSED = (
    *("file_kind", "kind", "flag", "level", "state", "point_state"),
    *("slot", "preamble", "open_span", "size_class", "entry"),
)
REMEDY = (
    "undo it, or begin version {next}: version = {next} in schema/events.toml, new goldens in "
    "schema/golden/v{next}, a decision that says why (docs/decisions/0017-schema-version-1.md)"
)


def contract(schema: dict[str, Any], points: list[dict[str, str]]) -> dict[str, Any]:
    """What readers of a version rely on."""
    found = {name: schema[name] for name in ("version", "magic", *OPEN, *TABLES, *PAGES, *CLOSED)}
    return found | {"points": {point["id"]: meaning(point) for point in points}}


def meaning(point: dict[str, str]) -> str:
    """Of a point's id, in rows of the store."""
    return f"{point['layer']}.{point['op']} {point['class']}#{point['method']}"


def differences(frozen: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """A line for each thing that a reader of the frozen contract would not expect."""
    found = [f"{name} is {now[name]}, not {frozen[name]}" for name in ("version", "magic")
             if now[name] != frozen[name]]  # fmt: skip
    for section in (*OPEN, *TABLES, *PAGES, *CLOSED):
        before, after = frozen[section], now[section]
        found += [
            f"{section}.{name} is {after.get(name, 'gone')}, not {value}"
            for name, value in before.items()
            if after.get(name) != value
        ]
        new = [name for name in after if name not in before]
        if section in CLOSED:
            found += [f"{section}.{name} is new" for name in new]
        kept = [name for name in after if name in before]
        if section in TABLES and list(after)[: len(kept)] != kept:
            found.append(f"{section}: new columns stand before others")
    found += [
        f"golden file {name} has changed"
        for name, sum_ in frozen["goldens"].items()
        if now["goldens"].get(name) != sum_
    ]
    found += [
        f"point {number} is {now['points'][number]}, not {was}"
        for number, was in frozen["points"].items()
        if now["points"].get(number, was) != was
    ]
    return found


def added(frozen: dict[str, Any], schema: dict[str, Any]) -> dict[str, list[str]]:
    """Per table the columns that files of the frozen version may lack."""
    return {
        table: [name for name in schema[table] if name not in frozen[table]] for table in TABLES
    }


def goldens(version: int) -> dict[str, str]:
    """SHA-256 of the golden files of a version, by their place beside its contract."""
    folder = path(version).parent
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file != path(version))
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def path(version: int) -> Path:
    """Of what a version froze."""
    return ROOT / f"schema/golden/v{version}/contract.json"


def load(version: int) -> dict[str, Any]:
    """What a version froze."""
    found: dict[str, Any] = json.loads(path(version).read_text("utf-8"))
    return found


def now() -> dict[str, Any]:
    """The contract as it is written."""
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # the system's Python calls this
    from schema.generate import load_points

    schema = tomllib.loads((ROOT / "schema/events.toml").read_text("utf-8"))
    points = load_points(sorted((ROOT / "java/points").glob("*.toml")), schema)
    return contract(schema, points) | {"goldens": goldens(schema["version"])}


def main(arguments: list[str]) -> int:
    found = now()
    version = found["version"]
    if "--write" in arguments:
        if path(version).exists():
            print(f"{path(version)} is frozen: {REMEDY.format(next=version + 1)}", file=sys.stderr)
            return 1
        path(version).parent.mkdir(parents=True, exist_ok=True)
        path(version).write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        return 0
    if not path(version).exists():
        print(f"version {version} is not frozen: schema/frozen.py --write", file=sys.stderr)
        return 1
    wrong = differences(load(version), found)
    for line in wrong:
        print(f"schema version {version} is frozen: {line}", file=sys.stderr)
    if wrong:
        print(REMEDY.format(next=version + 1), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
