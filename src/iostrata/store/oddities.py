"""Values that no trace has. A run is asked for them where reading it came to an error: then it is
the run that is wrong, and not iostrata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from iostrata.schema.columns import CHILDREN, DEVICES, EVENTS, PROCESSES, SYSTEM, THREADS, USAGE

_MOST = 1 << 62  # bytes, ns since the epoch, and calls
# Any 64 bits: what they say is which, and not how much.
_IDS = {"proc", "span", "parent", "parent_proc", "trace", "scope", "block", "uid"}
_SIGNED = {"exit"}
_FROM_MINUS_ONE = {"offset", "bytes", "asked"}
_NEEDED = {
    "events": {"kind", "start"},
    "processes": {"traced"},
    "children": {"parent", "start", "end", "cpu", "name"},
    "threads": {"proc", "tid", "end", "cpu", "queued"},
    "usage": {"proc", "time", "interval", "cpu"},
    "system": set(SYSTEM),
    "devices": set(DEVICES),
}
_POINT = r"\d{1,9} \w+ [^,]+"
_SHAPES = {"user_points": f"(?:{_POINT}(?:,{_POINT})*)?"}
Rows = Callable[[str], list[dict[str, Any]]]


def oddity(rows: Rows) -> str:
    """Says which column has such values, and in how many rows; '' where none has."""
    tables = {
        "events": EVENTS,
        "processes": PROCESSES,
        "children": CHILDREN,
        "threads": THREADS,
        "usage": USAGE,
        "system": SYSTEM,
        "devices": DEVICES,
    }
    for table, columns in tables.items():
        asked = [
            (f"{table}.{name} {what}", condition)
            for name, kind in columns.items()
            for what, condition in _odd(table, name, kind)
        ]
        counts = ", ".join(
            f"count(*) FILTER ({condition}) AS n{place}"
            for place, (_, condition) in enumerate(asked)
        )
        (found,) = rows(f"SELECT {counts} FROM {table}")
        for (what, _), count in zip(asked, found.values(), strict=True):
            if count:
                return f"{what} in {count:,} {'row' if count == 1 else 'rows'}"
    return ""


def _odd(table: str, name: str, kind: str) -> Iterator[tuple[str, str]]:
    """What a value of a column must not be, in words and in SQL."""
    cell = f'"{name}"'
    if name in _NEEDED[table]:
        yield "is missing", f"{cell} IS NULL"
    if name in ("layer", "op"):
        yield "is missing", f"{cell} IS NULL AND kind <> 'gap'"
    if kind == "f64":
        yield "is no number", f"NOT isfinite({cell})"
        yield "is negative", f"{cell} < 0"
    elif kind in ("i32", "i64") and name not in _IDS | _SIGNED:
        yield "is negative", f"{cell} < {-1 if name in _FROM_MINUS_ONE else 0}"
        yield "is too large", f"{cell} > {_MOST}"
    if name == "inclusion":
        yield "is no probability", f"{cell} = 0 OR {cell} > 1"
    if name in _SHAPES:
        yield "is no list of points", f"NOT regexp_full_match({cell}, '{_SHAPES[name]}')"
