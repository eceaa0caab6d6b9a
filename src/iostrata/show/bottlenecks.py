"""What holds a run back, as text."""

from __future__ import annotations

from iostrata.analyse.calltree.bottlenecks import Bottleneck, Bottlenecks
from iostrata.show.tables import WIDTH, Column, fitting, named, number
from iostrata.text import count, percent, plural, seconds

MOST_STAGES = 8


def bottleneck_lines(ranked: Bottlenecks, most: int, width: int = WIDTH) -> list[str]:
    """The first functions; working, waiting and idle are those of the measure that ranks. What else
    is known of them is shown where lines of `width` characters have room for it.
    """
    if not ranked.functions:
        return ["no calls were recorded: iostrata summary says why"]
    holding = [row for row in ranked.functions if getattr(row, ranked.by) > 0]
    whole = ranked.wall if ranked.by == "critical" else sum(getattr(r, ranked.by) for r in holding)
    by = "self" if ranked.by == "total" else ranked.by

    def waiting(row: Bottleneck) -> int:
        return int(getattr(row, f"{by}_waiting"))

    def idle(row: Bottleneck) -> int:
        return row.critical_idle if by == "critical" else 0

    def share(row: Bottleneck) -> str:
        return percent(getattr(row, ranked.by) / whole if whole else 0.0, 1)

    ranks = [
        Column(f"of {ranked.by}", share, number=True),
        Column(
            "working", lambda row: seconds(getattr(row, by) - waiting(row) - idle(row)), number=True
        ),
        Column("waiting", lambda row: seconds(waiting(row)), number=True),
    ]
    if any(idle(row) for row in holding):
        ranks.append(Column("idle", lambda row: seconds(idle(row)), number=True))
    name, role, host = named("function", "name"), named("role"), named("host")
    critical = number("critical path", seconds, "critical")
    more = [number("calls", count), number("self", seconds), number("total", seconds)]
    where = [host] if len({row.host for row in holding}) > 1 else []
    choices = (
        [name, role, host, *ranks, more[0], critical, *more[1:]],
        [name, role, *where, *ranks, *more],
        [name, role, *where, *ranks, more[0]],
        [name, role, *ranks],
    )
    left = len(holding) - most
    last = [f"({plural(left, 'function')} more)"] if left > 0 else []
    functions = [*fitting(holding[:most], choices, width), *last]
    return [_headline(ranked), "", *_stage_lines(ranked, width), *functions]


def _stage_lines(ranked: Bottlenecks, width: int) -> list[str]:
    """The stages that the path spent most time in, where it ranks and has more than one."""
    stages = ranked.stages
    if ranked.by != "critical" or len(stages) < 2:
        return []
    shown = [
        named("stage"),
        number("tasks", count),
        Column("of critical", lambda row: percent(row.time / (ranked.wall or 1), 1), number=True),
        Column("working", lambda row: seconds(row.time - row.waiting - row.idle), number=True),
        number("waiting", seconds),
    ]
    if any(stage.idle for stage in stages):
        shown.append(number("idle", seconds))
    jobs = {stage.job for stage in stages} - {""}
    choices = [[*shown, named("job")], shown] if len(jobs) > 1 else [shown]
    left = len(stages) - MOST_STAGES
    more = [f"({plural(left, 'stage')} more)"] if left > 0 else []
    return [*fitting(stages[:MOST_STAGES], choices, width), *more, ""]


def _headline(ranked: Bottlenecks) -> str:
    waiting = sum(row.critical_waiting for row in ranked.functions)
    idle = sum(row.critical_idle for row in ranked.functions)
    wall = ranked.wall or 1
    of = (
        f"critical path: {seconds(ranked.wall)}, {percent(waiting / wall)} of it waiting for a peer"
    )
    if idle:
        of += f", {percent(idle / wall)} idle: no call, no CPU"
    return f"{of}; times of calls are estimates" if ranked.sampled else of
