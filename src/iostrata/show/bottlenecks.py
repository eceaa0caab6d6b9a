"""What holds a run back, as text."""

from __future__ import annotations

from iostrata.analyse.calltree.bottlenecks import RANKS, Bottleneck, Bottlenecks
from iostrata.text import columns, count, percent, plural, seconds


def bottleneck_lines(ranked: Bottlenecks, most: int) -> list[str]:
    """The first functions; working and waiting are those of the measure that ranks."""
    if not ranked.functions:
        return ["no calls were recorded: iostrata summary says why"]
    holding = [row for row in ranked.functions if getattr(row, ranked.by) > 0]
    whole = ranked.wall if ranked.by == "critical" else sum(getattr(r, ranked.by) for r in holding)
    cells = [_cells(row, ranked.by, whole) for row in holding[:most]]
    names = ["function", "role", "host", f"of {ranked.by}", "working", "waiting", "calls"]
    lines = columns([*names, "critical path", "self", "total"], cells, range(3, 10))
    left = len(holding) - len(cells)
    more = [f"({plural(left, 'function')} more)"] if left else []
    return [_headline(ranked), "", *lines, *more]


def _cells(row: Bottleneck, by: str, whole: int) -> list[str]:
    measured = by if by != "total" else "self"
    waiting: int = getattr(row, f"{measured}_waiting")
    return [
        row.name,
        row.role,
        row.host,
        percent(getattr(row, by) / whole if whole else 0.0, 1),
        seconds(getattr(row, measured) - waiting),
        seconds(waiting),
        count(row.calls),
        *(seconds(getattr(row, name)) for name in RANKS),
    ]


def _headline(ranked: Bottlenecks) -> str:
    waiting = sum(row.critical_waiting for row in ranked.functions)
    share = percent(waiting / ranked.wall if ranked.wall else 0.0)
    of = f"critical path: {seconds(ranked.wall)}, {share} of it waiting for a peer"
    return f"{of}; times of calls are estimates" if ranked.sampled else of
