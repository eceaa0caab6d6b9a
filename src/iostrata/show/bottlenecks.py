"""What holds a run back, as text."""

from __future__ import annotations

from iostrata.analyse.calltree.bottlenecks import Bottleneck, Bottlenecks
from iostrata.show.tables import Column, named, number, table
from iostrata.text import count, percent, plural, seconds


def bottleneck_lines(ranked: Bottlenecks, most: int) -> list[str]:
    """The first functions; working and waiting are those of the measure that ranks."""
    if not ranked.functions:
        return ["no calls were recorded: iostrata summary says why"]
    holding = [row for row in ranked.functions if getattr(row, ranked.by) > 0]
    whole = ranked.wall if ranked.by == "critical" else sum(getattr(r, ranked.by) for r in holding)
    by = "self" if ranked.by == "total" else ranked.by

    def waiting(row: Bottleneck) -> int:
        return int(getattr(row, f"{by}_waiting"))

    def share(row: Bottleneck) -> str:
        return percent(getattr(row, ranked.by) / whole if whole else 0.0, 1)

    shown = [
        *(named("function", "name"), named("role"), named("host")),
        Column(f"of {ranked.by}", share, number=True),
        Column("working", lambda row: seconds(getattr(row, by) - waiting(row)), number=True),
        Column("waiting", lambda row: seconds(waiting(row)), number=True),
        *(number("calls", count), number("critical path", seconds, "critical")),
        *(number("self", seconds), number("total", seconds)),
    ]
    left = len(holding) - most
    more = [f"({plural(left, 'function')} more)"] if left > 0 else []
    return [_headline(ranked), "", *table(holding[:most], shown), *more]


def _headline(ranked: Bottlenecks) -> str:
    waiting = sum(row.critical_waiting for row in ranked.functions)
    share = percent(waiting / ranked.wall if ranked.wall else 0.0)
    of = f"critical path: {seconds(ranked.wall)}, {share} of it waiting for a peer"
    return f"{of}; times of calls are estimates" if ranked.sampled else of
