"""A comparison as lines of text."""

from __future__ import annotations

from collections.abc import Callable

from iostrata.analyse.changes import GroupChange
from iostrata.analyse.comparison import CHANGED, ComparedTable, Comparison, Difference
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.text import columns, count, percent, plural, printable, seconds, size

MOST_ROWS = 10
_TITLES = {column: direction for direction, column in BYTES_COLUMN.items()}
_BYTES = ("bytes", *_TITLES)


def comparison_lines(comparison: Comparison, every: bool = False) -> list[str]:
    """What makes the runs differ as runs first, then a table for each thing compared."""
    lines = [f"not alike: {line if every else _short(line)}" for line in comparison.unlike]
    for side, runs in (("A", comparison.first), ("B", comparison.second)):
        lines.append(printable(f"{side}: {plural(len(runs), 'run')}: {', '.join(runs)}"))
    lines += comparison.notes
    for table in comparison.tables:
        rows = table.rows if every else table.rows[:MOST_ROWS]
        rest = table.rows[len(rows) :]
        if rows:
            lines += ["", *_table(table, rows)]
        if rest:
            changed = sum(row.verdict == CHANGED for row in rest)
            more = f", {count(changed)} of them changed" if changed else ""
            lines.append(f"and {count(len(rest))} more{more} (--all shows them)")
    return lines


def _table(table: ComparedTable, rows: list[Difference]) -> list[str]:
    used = [name for name in ("calls", *_BYTES) if any(name in row.metrics for row in rows)]
    titles = [_TITLES.get(name, name) for name in used]
    header = [*table.keys, "time A", "time B", "grew", "time", *titles, "verdict"]
    cells = [[*row.key, *_times(row), *_changes(row, used), verdict(row)] for row in rows]
    return columns(header, cells, range(len(table.keys), len(header) - 1))


def _changes(row: Difference, metrics: list[str]) -> list[str]:
    units = {name: size if name in _BYTES else count for name in metrics}
    return [change_text(row.metrics.get(name), unit) for name, unit in units.items()]


def _times(row: Difference) -> list[str]:
    time = row.metrics.get("time")
    if time is None:
        return ["", "", "", ""]
    ends = [seconds(round(value)) for value in (time.first, time.second)]
    return [*ends, _grown(row.time_grown, seconds), change_text(time, seconds, interval=True)]


def change_text(
    change: GroupChange | None, text: Callable[[int], str], interval: bool = False
) -> str:
    """`+12 %`, `x 3.4` from the double on, `=` of what is as it was, `0 to 12 KiB`, `to 0`.

    With its interval, if that is asked for and known: `+12 % (+8 % to +16 %)`, of a difference
    `+22.0 ms (-1.0 ms to +45.0 ms)`. All of it is a share, a factor or a difference.
    """
    if change is None:
        return ""
    if change.first == change.second:
        return "="
    if interval and change.least is not None and change.most is not None:
        said = [_grown(v, text) for v in (change.second - change.first, change.least, change.most)]
        return f"{said[0]} ({said[1]} to {said[2]})"
    if change.share is None:
        return f"0 to {text(round(change.second))}"
    if not change.second:
        return "to 0"
    if not interval or change.low is None or change.high is None or change.low == change.high:
        return share_text(change.share)
    ends = (change.share, change.low, change.high)
    shown = _factor if max(ends) >= 1 else share_text
    return "{} ({} to {})".format(*map(shown, ends))


def share_text(share: float) -> str:
    """What something grew by: `-5.2 %`, `+40 %`, `x 3.4`, `x 120`."""
    if share >= 1:
        return _factor(share)
    if 0 < abs(share) < 0.0005:
        return f"{'+' if share > 0 else '-'}<0.1 %"
    return percent(share, places=1 if abs(share) < 0.0995 else 0, signed=True)


def _factor(share: float) -> str:
    places = 2 if share < 0 else 1 if share < 99 else 0
    return f"x {share + 1:.{places}f}"


def _grown(value: float, text: Callable[[int], str]) -> str:
    return f"{'-' if value < 0 else '+'}{text(abs(round(value)))}"


def verdict(row: Difference) -> str:
    """`changed: time, calls`; else the verdict alone."""
    if row.verdict != CHANGED:
        return row.verdict
    names = [_TITLES.get(name, name) for name, m in row.metrics.items() if m.verdict == CHANGED]
    return f"changed: {', '.join(names)}"


def _short(line: str, most: int = 240) -> str:
    return line if len(line) <= most else f"{line[:most]} …"
