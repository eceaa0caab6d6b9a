"""What tracing cost a run, and what was only summed because of that.

Each process measures itself while the run is recorded: its CPU time, that of the agent's own
thread, and what woven code takes, estimated from hooks that are timed where they run. Start-up is
not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.processes import Process
from iostrata.records import Count, Ns, Record, Share
from iostrata.schema.detail import MILLION


class SummedPoint(Record, frozen=True):
    """A point that was summed under budget, in how many processes, for how many seconds at most."""

    point: str
    processes: Count
    seconds: int


class OverBudget(Record, frozen=True):
    """A process in which tracing took a larger share of the CPU time than allowed, although all
    was summed that may be.
    """

    role: str | None
    pid: int | None
    host: str | None
    task: str | None
    share: Share


class Cost(Record, frozen=True):
    """Of all processes that know theirs; the budget in millionths of the CPU time, 0: none.

    `cpu` is all that they took, `cost` the part of it that was tracing, `collector` what the
    collector took for them, `share` what both are of the CPU time.
    """

    budget: int
    processes: Count
    cpu: Ns
    cost: Ns
    collector: Ns
    share: Share
    summed: list[SummedPoint]
    over: list[OverBudget]


def cost(budget: int, processes: Sequence[Process]) -> Cost:
    """The cost of a run with a budget."""
    known = [process for process in processes if process.traced and process.cpu]
    cpu = sum(process.cpu or 0 for process in known)
    tracing = sum(process.cost or 0 for process in known)
    collector = sum(process.cost_collector or 0 for process in known)
    return Cost(
        budget=budget,
        processes=len(known),
        cpu=cpu,
        cost=tracing,
        collector=collector,
        share=(tracing + collector) / cpu if cpu else 0.0,
        summed=_summed(known),
        over=_over(budget, known),
    )


def _summed(processes: Sequence[Process]) -> list[SummedPoint]:
    times: dict[str, list[int]] = {}
    for process in processes:
        for entry in filter(None, (process.summed or "").split(",")):
            point, _, time = entry.rpartition(" ")
            times.setdefault(point, []).append(int(time))
    found = [SummedPoint(point, len(each), max(each)) for point, each in times.items()]
    return sorted(found, key=lambda row: (-row.processes * row.seconds, row.point))


def _over(budget: int, processes: Sequence[Process]) -> list[OverBudget]:
    found = []
    for one in processes:
        share = ((one.cost or 0) + (one.cost_collector or 0)) / (one.cpu or 1)
        if one.over and budget and share * MILLION > budget:
            found.append(OverBudget(one.role, one.pid, one.host, one.task, share))
    return sorted(found, key=lambda row: -row.share)
