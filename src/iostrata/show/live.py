"""What a run does now, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.live import LiveRates, LiveTotals, LiveView
from iostrata.schema.directions import BYTES_COLUMN
from iostrata.text import columns, count, plural, printable, seconds, size

MOST_RATES = 24
MOST_OPEN = 12
MOST_INCOMPLETE = 6


def live_lines(view: LiveView) -> list[str]:
    """How old it is, rates by layer, host and job, totals, what is open."""
    lines = [head(view)]
    lines += [printable(f"incomplete: {line}") for line in view.incomplete[:MOST_INCOMPLETE]]
    if view.rates:
        lines += ["", *_rates(view.rates)]
    elif view.window is not None:
        lines += ["", "no call ended in this time"]
    if view.open and not view.ended:
        lines += ["", *_open(view)]
    if view.totals:
        lines += ["", *_totals(view.totals)]
    return lines


def head(view: LiveView) -> str:
    """`run r · recording · as of 1.2 s ago · over 1.00 s`."""
    if view.ended:
        code = "" if view.exit is None else f", exit {view.exit}"
        return printable(f"run {view.run} has ended: {view.state}{code}")
    parts = [f"run {view.run}", view.state]
    parts += ["nothing published yet" if view.age is None else f"as of {_seconds(view.age)} ago"]
    parts += [] if view.window is None else [f"over {_seconds(view.window)}"]
    return printable(" · ".join(parts))


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.1f} s"


def _rates(rows: list[LiveRates]) -> list[str]:
    moved = _moved(rows)
    header = ["layer", "host", "job", "calls/s", *(f"{direction}/s" for direction in moved)]
    header += ["recorded", "mean", "median", "99 %"]
    cells = [
        [
            row.layer,
            row.host,
            row.job or "-",
            count(round(row.calls)),
            *(size(round(getattr(row, column))) for column in moved.values()),
            count(row.recorded),
            *("" if time is None else seconds(time) for time in (row.mean, row.p50, row.p99)),
        ]
        for row in rows[:MOST_RATES]
    ]
    lines = columns(header, cells, range(3, len(header)))
    return lines + _more(len(rows) - MOST_RATES)


def _open(view: LiveView) -> list[str]:
    cells = [
        [
            seconds(max(0, call.age)),
            f"{call.layer}.{call.op}",
            call.target or "-",
            f"{call.role or 'java'} {call.pid} on {call.host}",
            call.thread or "-",
            call.task or call.job or "-",
        ]
        for call in view.open[:MOST_OPEN]
    ]
    lines = columns(["open for", "call", "target", "process", "thread", "task"], cells, [0])
    return lines + _more(len(view.open) - MOST_OPEN + view.more_open)


def _totals(rows: list[LiveTotals]) -> list[str]:
    moved = _moved(rows)
    cells = [
        [row.layer, count(row.calls), *(size(getattr(row, column)) for column in moved.values())]
        for row in rows
    ]
    header = ["since it began", "calls", *moved]
    return columns(header, cells, range(1, len(header)))


def _moved(rows: Sequence[LiveRates | LiveTotals]) -> dict[str, str]:
    """The directions in which anything moved, and their columns."""
    return {
        direction: column
        for direction, column in BYTES_COLUMN.items()
        if any(getattr(row, column) for row in rows)
    }


def _more(rows: int) -> list[str]:
    return [f"and {plural(rows, 'more row')} (--json lists them)"] if rows > 0 else []
