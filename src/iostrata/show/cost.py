"""What tracing cost a run, and what was only summed because of that.

Each process measures itself while the run is recorded: its CPU time, that of the agent's own
thread, and what woven code takes, estimated from hooks that are timed where they run. Start-up is
not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iostrata.schema.detail import MILLION, budget_text
from iostrata.store.runs import Run
from iostrata.text import percent, plural, seconds

Row = dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """Times in ns, of all processes that know theirs.

    `cpu` is all that they took, `cost` what thereof was tracing, `collector` what the collector
    took for them. `summed`: points that were only summed for the budget, in how many processes, for
    how many seconds at most. `over`: processes in which tracing cost more than allowed although all
    was summed that may be: role, pid, host, task, share.
    """

    budget: int  # millionths, 0: none
    processes: int
    cpu: int
    cost: int
    collector: int
    summed: list[Row]
    over: list[Row]

    @property
    def share(self) -> float:
        """Of the CPU time of the traced processes, collector included."""
        return (self.cost + self.collector) / self.cpu if self.cpu else 0.0

    def as_dict(self) -> Row:
        """JSON values; times in ns, shares of 1, the budget in millionths."""
        return {
            "budget": self.budget,
            "processes": self.processes,
            "cpu": self.cpu,
            "cost": self.cost,
            "collector": self.collector,
            "share": self.share,
            "summed": self.summed,
            "over": self.over,
        }


def cost(run: Run, processes: list[Row]) -> Cost:
    """From the rows of processes."""
    known = [row for row in processes if row["traced"] and row["cpu"]]
    return Cost(
        budget=run.budget,
        processes=len(known),
        cpu=sum(row["cpu"] for row in known),
        cost=sum(row["cost"] for row in known),
        collector=sum(row["cost_collector"] for row in known),
        summed=_summed(known),
        over=_over(run, known),
    )


def cost_lines(cost: Cost) -> list[str]:
    """`tracing took ~0.7 % of the CPU time of 12 processes (budget 1 %) …`."""
    if not cost.processes:
        return []
    first = (
        f"tracing took ~{percent(cost.share, places=1)} of the CPU time of "
        f"{plural(cost.processes, 'process')} ({seconds(cost.cpu)}), budget "
        f"{budget_text(cost.budget)}; start-up not counted"
    )
    lines = [first]
    if cost.summed:
        told = ", ".join(
            f"{row['point'].rpartition('.')[2]} ({plural(row['processes'], 'process')}, "
            f"{row['seconds']} s)"
            for row in cost.summed[:6]
        )
        more = f" and {len(cost.summed) - 6} more" if len(cost.summed) > 6 else ""
        lines.append(f"only in sums, to stay within the budget: {told}{more}")
    for row in cost.over[:6]:
        who = f"{row['role'] or 'java'} pid {row['pid']} on {row['host']}"
        lines.append(
            f"budget not met: {who}: {percent(row['share'], places=1)}, "
            "of what is kept or counted whatever it costs"
        )
    if len(cost.over) > 6:
        lines.append(f"budget not met: {plural(len(cost.over) - 6, 'more process')}")
    if cost.budget:
        lines.append("only in sums, as wherever there is a budget: reads of jars and class files")
    return lines


def _summed(processes: list[Row]) -> list[Row]:
    found: dict[str, list[int]] = {}
    for row in processes:
        for entry in filter(None, (row["summed"] or "").split(",")):
            point, _, time = entry.rpartition(" ")
            found.setdefault(point, []).append(int(time))
    rows = [
        {"point": point, "processes": len(times), "seconds": max(times)}
        for point, times in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["processes"] * row["seconds"], row["point"]))


def _over(run: Run, processes: list[Row]) -> list[Row]:
    found = []
    for row in processes:
        share = (row["cost"] + row["cost_collector"]) / row["cpu"]
        if row["over"] and run.budget and share * MILLION > run.budget:
            who = {name: row[name] for name in ("role", "pid", "host", "task")}
            found.append({**who, "share": share})
    return sorted(found, key=lambda row: -row["share"])
