"""What a run does now, as lines of text."""

from __future__ import annotations

from collections.abc import Callable

from iostrata.analyse.live import LiveRates, LiveTotals, LiveView
from iostrata.show.tables import WIDTH, Column, directions, fitting, named, number
from iostrata.text import count, plural, printable, seconds, shortened

MOST_RATES = 24
MOST_OPEN = 12
MOST_INCOMPLETE = 6


def live_lines(view: LiveView, width: int = WIDTH) -> list[str]:
    """How old it is, rates by layer, host and job, totals, what is open, in lines of `width`."""
    lines = [head(view)]
    lines += [printable(f"incomplete: {line}") for line in view.incomplete[:MOST_INCOMPLETE]]
    if view.rates:
        lines += ["", *_rates(view.rates, width)]
    elif view.window is not None:
        lines += ["", "no call ended in this time"]
    if view.open and not view.ended:
        lines += ["", *_open(view, width)]
    if view.totals:
        lines += ["", *_totals(view.totals, width)]
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


def _rates(rows: list[LiveRates], width: int) -> list[str]:
    times = {"mean": "mean", "median": "p50", "99 %": "p99"}
    layer, host, job = named("layer"), named("host"), Column("job", lambda row: row.job or "-")
    calls = number("calls/s", lambda calls: count(round(calls)), "calls")
    moved = directions(rows, always=(), made=_rate)
    took = [number(title, seconds, field) for title, field in times.items()]
    whose = [layer]
    whose += [host] if len({row.host for row in rows}) > 1 else []
    whose += [job] if any(row.job for row in rows) else []
    choices = (
        [layer, host, job, calls, *moved, number("recorded", count), *took],
        [*whose, calls, *moved, *took],
        [*whose, calls, *moved, took[1]],
        [*whose, calls, *moved],
    )
    return fitting(rows[:MOST_RATES], choices, width) + _more(len(rows) - MOST_RATES)


def _rate(direction: str, text: Callable[[int], str], field: str) -> Column:
    return number(f"{direction}/s", lambda moved: text(round(moved)), field)


def _open(view: LiveView, width: int) -> list[str]:
    age = number("open for", lambda age: seconds(max(0, age)), "age")
    call = Column("call", lambda call: f"{call.layer}.{call.op}")
    process = Column("process", lambda call: f"{call.role or 'java'} {call.pid} on {call.host}")
    by = Column("process", lambda call: f"{call.role or 'java'} {call.pid}")
    target = Column("target", lambda call: call.target or "-")
    short = Column("target", lambda call: shortened(call.target or "-", max(width - 48, 16)))
    thread = Column("thread", lambda call: call.thread or "-")
    task = Column("task", lambda call: call.task or call.job or "-")
    choices = (
        [age, call, target, process, thread, task],
        [age, call, target, by],
        [age, call, short, by],
    )
    more = len(view.open) - MOST_OPEN + view.more_open
    return fitting(view.open[:MOST_OPEN], choices, width) + _more(more)


def _totals(rows: list[LiveTotals], width: int) -> list[str]:
    whose = (named("since it began", "layer"), number("calls", count))
    moved = directions(rows, always=())
    return fitting(rows, ([*whose, *moved], [*whose, *moved[:4]]), width)


def _more(rows: int) -> list[str]:
    return [f"and {plural(rows, 'more row')} (--json lists them)"] if rows > 0 else []
