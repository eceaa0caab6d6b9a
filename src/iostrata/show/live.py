"""What a run does now, as lines of text."""

from __future__ import annotations

from collections.abc import Callable

from iostrata.analyse.live import LiveRates, LiveTotals, LiveView
from iostrata.show.tables import Column, directions, named, number, table
from iostrata.text import count, plural, printable, seconds

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
    times = {"mean": "mean", "median": "p50", "99 %": "p99"}
    shown = [
        *(named("layer"), named("host"), Column("job", lambda row: row.job or "-")),
        number("calls/s", lambda calls: count(round(calls)), "calls"),
        *directions(rows, always=(), made=_rate),
        number("recorded", count),
        *(number(title, seconds, field) for title, field in times.items()),
    ]
    return table(rows[:MOST_RATES], shown) + _more(len(rows) - MOST_RATES)


def _rate(direction: str, text: Callable[[int], str], field: str) -> Column:
    return number(f"{direction}/s", lambda moved: text(round(moved)), field)


def _open(view: LiveView) -> list[str]:
    shown = [
        number("open for", lambda age: seconds(max(0, age)), "age"),
        Column("call", lambda call: f"{call.layer}.{call.op}"),
        Column("target", lambda call: call.target or "-"),
        Column("process", lambda call: f"{call.role or 'java'} {call.pid} on {call.host}"),
        Column("thread", lambda call: call.thread or "-"),
        Column("task", lambda call: call.task or call.job or "-"),
    ]
    more = len(view.open) - MOST_OPEN + view.more_open
    return table(view.open[:MOST_OPEN], shown) + _more(more)


def _totals(rows: list[LiveTotals]) -> list[str]:
    whose = (named("since it began", "layer"), number("calls", count))
    return table(rows, [*whose, *directions(rows, always=())])


def _more(rows: int) -> list[str]:
    return [f"and {plural(rows, 'more row')} (--json lists them)"] if rows > 0 else []
