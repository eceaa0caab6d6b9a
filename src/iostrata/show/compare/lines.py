"""A comparison as lines of text."""

from __future__ import annotations

from collections.abc import Callable

from iostrata.schema.directions import DIRECTIONS
from iostrata.show.compare.differences import CHANGED, Comparison, Difference
from iostrata.show.compare.measured import Table
from iostrata.show.compare.noise import Change
from iostrata.text import columns, count, plural, printable, seconds, size

MOST_ROWS = 10
_BYTES = ("bytes", *(f"bytes_{way}" for way in DIRECTIONS))
_TITLES = {f"bytes_{way}": way for way in DIRECTIONS}


def comparison_lines(found: Comparison, every: bool = False) -> list[str]:
    """What makes the runs differ as runs first, then a table for each thing compared."""
    lines = [f"not alike: {line if every else _short(line)}" for line in found.unlike]
    for side, runs in (("A", found.first), ("B", found.second)):
        names = ", ".join(run.name for run in runs)
        lines.append(printable(f"{side}: {plural(len(runs), 'run')}: {names}"))
    lines += found.notes
    for table, rows in found.tables.items():
        if rows:
            lines += ["", *_table(table, rows if every else rows[:MOST_ROWS])]
        if not every and len(rows) > MOST_ROWS:
            changed = sum(row.verdict == CHANGED for row in rows[MOST_ROWS:])
            more = f", {count(changed)} of them changed" if changed else ""
            lines.append(f"and {count(len(rows) - MOST_ROWS)} more{more} (--all shows them)")
    return lines


def _table(table: Table, rows: list[Difference]) -> list[str]:
    used = [name for name in ("calls", *_BYTES) if any(name in row.changes for row in rows)]
    titles = [_TITLES.get(name, name) for name in used]
    header = [*table.keys, "time A", "time B", "grew", "time", *titles, "verdict"]
    cells = [
        [
            *row.key,
            *_times(row),
            *(share(row.changes.get(name), _text(name)) for name in used),
            verdict(row),
        ]
        for row in rows
    ]
    first = len(table.keys)
    return columns(header, cells, range(first, len(header) - 1))


def _times(row: Difference) -> list[str]:
    time = row.changes.get("time")
    if time is None:
        return ["", "", "", ""]
    grew = seconds(abs(round(row.time)))
    sign = "-" if row.time < 0 else "+"
    return [
        seconds(round(time.first)),
        seconds(round(time.second)),
        f"{sign}{grew}",
        share(time, seconds) + _interval(time),
    ]


def share(found: Change | None, text: Callable[[int], str]) -> str:
    """`+12 %`, `x 3.4` from the double on, `=` of what is as it was, `0 to 12 KiB`, `to 0`."""
    if found is None:
        return ""
    if found.first == found.second:
        return "="
    if found.share is None:
        return f"0 to {text(round(found.second))}"
    if not found.second:
        return "to 0"
    return percent(found.share)


def percent(value: float) -> str:
    """A share that something grew by: `-5.2 %`, `+40 %`, `x 3.4`, `x 120`."""
    if value >= 1:
        return f"x {value + 1:.{1 if value < 99 else 0}f}"
    if 0 < abs(value) < 0.0005:
        return f"{'+' if value > 0 else '-'}<0.1 %"
    return f"{100 * value:+.{1 if abs(value) < 0.0995 else 0}f} %"


def _interval(found: Change) -> str:
    if found.low is None or found.high is None or found.low == found.high:
        return ""
    return f" ({percent(found.low)} to {percent(found.high)})"


def verdict(row: Difference) -> str:
    """`changed: time, calls`; else the verdict alone."""
    if row.verdict != CHANGED:
        return row.verdict
    names = [_TITLES.get(name, name) for name, of in row.verdicts.items() if of == CHANGED]
    return f"changed: {', '.join(names)}"


def _text(name: str) -> Callable[[int], str]:
    return size if name in _BYTES else count


def _short(line: str, most: int = 240) -> str:
    return line if len(line) <= most else f"{line[:most]} …"
