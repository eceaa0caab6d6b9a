"""What a run does now, as lines of text."""

from __future__ import annotations

from typing import Any

from iostrata.schema.directions import DIRECTIONS
from iostrata.show.live.now import Now
from iostrata.text import columns, count, plural, printable, seconds, size

MOST_RATES = 24
MOST_OPEN = 12
MOST_INCOMPLETE = 6
Row = dict[str, Any]


def now_lines(now: Now) -> list[str]:
    """How old it is, rates by layer, host and job, totals, what is open."""
    lines = [head(now)]
    lines += [printable(f"incomplete: {line}") for line in now.look.incomplete[:MOST_INCOMPLETE]]
    if now.rates:
        lines += ["", *_rates(now.rates)]
    elif now.window is not None:
        lines += ["", "no call ended in this time"]
    if now.open and not now.look.ended:
        lines += ["", *_open(now)]
    if now.totals:
        lines += ["", *_totals(now.totals)]
    return lines


def head(now: Now) -> str:
    """`run r · recording · as of 1.2 s ago · over 1.00 s`."""
    run = now.look.run
    if now.look.ended:
        code = "" if run.exit is None else f", exit {run.exit}"
        return printable(f"run {run.name} has ended: {run.state}{code}")
    parts = [f"run {run.name}", run.state]
    parts += ["nothing published yet" if now.age is None else f"as of {_seconds(now.age)} ago"]
    parts += [] if now.window is None else [f"over {_seconds(now.window)}"]
    return printable(" · ".join(parts))


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.1f} s"


def _rates(rows: list[Row]) -> list[str]:
    ways = [way for way in DIRECTIONS if any(row[f"bytes_{way}"] for row in rows)]
    header = ["layer", "host", "job", "calls/s", *(f"{way}/s" for way in ways)]
    header += ["kept", "mean", "median", "99 %"]
    cells = [
        [
            row["layer"],
            row["host"],
            row["job"] or "-",
            count(round(row["calls"])),
            *(size(round(row[f"bytes_{way}"])) for way in ways),
            count(row["kept"]),
            *("" if row[name] is None else seconds(row[name]) for name in ("mean", "p50", "p99")),
        ]
        for row in rows[:MOST_RATES]
    ]
    lines = columns(header, cells, range(3, len(header)))
    return lines + _more(len(rows) - MOST_RATES)


def _open(now: Now) -> list[str]:
    cells = [
        [
            seconds(max(0, call["for"])),
            f"{call['layer']}.{call['op']}",
            call["target"] or "-",
            f"{call['role'] or 'java'} {call['pid']} on {call['host']}",
            call["thread"] or "-",
            call["task"] or call["job"] or "-",
        ]
        for call in now.open[:MOST_OPEN]
    ]
    lines = columns(["open for", "call", "target", "process", "thread", "task"], cells, [0])
    return lines + _more(len(now.open) - MOST_OPEN + now.look.more_open)


def _totals(rows: list[Row]) -> list[str]:
    ways = [way for way in DIRECTIONS if any(row[f"bytes_{way}"] for row in rows)]
    cells = [
        [row["layer"], count(row["calls"]), *(size(row[f"bytes_{way}"]) for way in ways)]
        for row in rows
    ]
    header = ["since it began", "calls", *ways]
    return columns(header, cells, range(1, len(header)))


def _more(rows: int) -> list[str]:
    return [f"and {plural(rows, 'more row')} (--json lists them)"] if rows > 0 else []
