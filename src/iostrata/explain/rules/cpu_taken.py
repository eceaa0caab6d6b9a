"""Work that waits for a CPU which others on its hosts use."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import PROCESSES, SYSTEM
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import percent

IDLE = 0.1  # of the cores, at the most, where the CPU is said to be busy
BUSY = 0.5  # of the run, at the least
TAKEN = 0.3  # of the time of the cores that were busy, at the least


class HostCpu(Record, frozen=True):
    """Time of the cores of a host: all that there was, while they were busy, and what the run's
    traced processes used of it.
    """

    host: str | None
    cores: Count
    capacity: Ns
    busy: Ns
    used: Ns


def evidence(_: Workforce) -> ir.Table:
    rows = SYSTEM.filter(SYSTEM.interval > 0, SYSTEM.cores > 0)
    rows = rows.mutate(capacity=rows.cores.cast("int64") * rows.interval)
    is_busy = rows.cpu_idle + rows.cpu_iowait <= rows.capacity * IDLE
    hosts = rows.group_by("host").agg(
        cores=rows.cores.max(),
        capacity=rows.capacity.sum().cast("int64"),
        busy=rows.capacity.sum(where=is_busy).fill_null(0).cast("int64"),
    )
    traced = PROCESSES.filter(PROCESSES.traced)
    own = traced.group_by("host").agg(cpu=traced.cpu.sum())
    return (
        hosts.left_join(own, "host")
        .select("host", "cores", "capacity", "busy", used=ibis.coalesce(own.cpu, 0).cast("int64"))
        .order_by("host")
    )


@rule(
    title="Others use the CPU",
    evidence=Query(evidence, HostCpu),
    why="When more threads want to run than there are cores, each of them waits for its turn. "
    "Every call takes longer then, whatever layer it is in.",
    unless="the processes that were not traced work for this job, as Python workers do.",
    most="warning",
    explains=("idle",),
)
def judge(rows: list[HostCpu], facts: RunFacts) -> Judgement | None:
    taken = {row: row.busy - row.used for row in rows if row.busy >= BUSY * row.capacity}
    taken = {row: time for row, time in taken.items() if time >= TAKEN * row.busy}
    if not taken:
        return None
    worst = max(taken, key=lambda row: taken[row] / row.capacity)
    share = sum(taken.values()) / sum(row.capacity for row in rows)
    return Judgement(
        share=share * facts.coverage,
        text=f"the CPU of {worst.host or 'the host'} was busy for "
        f"{percent(worst.busy / worst.capacity)} of the run, and processes that were not traced "
        f"had {percent(taken[worst] / worst.busy)} of it",
        evidence=[
            Evidence("host", worst.host or "", "text"),
            Evidence("cores", worst.cores, "count"),
            Evidence("time of all cores", worst.capacity, "ns"),
            Evidence("of it while they were busy", worst.busy, "ns"),
            Evidence("CPU time of the run's traced processes", worst.used, "ns"),
        ],
        change=[
            Change("find out with top or pidstat who uses the CPU, and run them at another time"),
            Change("give the job's processes a share of the CPU of their own, with cgroups"),
        ],
        gain=(0.0, 1.0),
    )
