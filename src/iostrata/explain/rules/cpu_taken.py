"""Work that waits for a CPU which others on its hosts, or other machines on them, use."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import SYSTEM
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import with_own
from iostrata.records import Count, Ns, Record
from iostrata.text import percent

IDLE = 0.1  # of the cores, at the most, where the CPU is said to be busy
BUSY = 0.5  # of the run, at the least
TAKEN = 0.3  # of the time of the cores that were busy, at the least
_OTHER_MACHINES = [Change("use machines whose CPUs no others share")]
_OTHER_PROCESSES = [
    Change("find out with top or pidstat who uses the CPU, and run them at another time"),
    Change("give the job's processes a share of the CPU of their own, with cgroups"),
]


class HostCpu(Record, frozen=True):
    """Time of the cores of a host: all that there was, while they were busy, and what the run's
    traced processes used of it; of the busy time, what a hypervisor gave to other machines.
    """

    host: str | None
    cores: Count
    capacity: Ns
    busy: Ns
    used: Ns
    stolen: Ns

    @property
    def taken(self) -> int:
        return self.busy - self.used

    @property
    def is_stolen(self) -> bool:
        """Whether other machines had most of what was taken."""
        return self.stolen * 2 > self.taken


def evidence(_: Workforce) -> ir.Table:
    rows = SYSTEM.filter(SYSTEM.interval > 0, SYSTEM.cores > 0)
    rows = rows.mutate(capacity=rows.cores.cast("int64") * rows.interval)
    waited = rows.cpu_idle + rows.cpu_iowait
    is_busy = waited <= rows.capacity * IDLE
    # what is missing to the time of all cores
    stolen = ibis.greatest(rows.capacity - waited - rows.cpu_user - rows.cpu_system, 0)
    hosts = rows.group_by("host").agg(
        cores=rows.cores.max(),
        capacity=rows.capacity.sum().cast("int64"),
        busy=rows.capacity.sum(where=is_busy).fill_null(0).cast("int64"),
        stolen=stolen.sum(where=is_busy).fill_null(0).cast("int64"),
    )
    return with_own(hosts, own=("cpu",)).rename(used="own").order_by("host")


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
    busy = [row for row in rows if row.busy >= BUSY * row.capacity]
    taken = [row for row in busy if row.taken >= TAKEN * row.busy]
    if not taken:
        return None
    worst = max(taken, key=lambda row: row.taken / row.capacity)
    share = sum(row.taken for row in taken) / sum(row.capacity for row in rows)
    who, part = "processes that were not traced had", worst.taken
    if worst.is_stolen:
        who, part = "its hypervisor gave other machines", worst.stolen
    return Judgement(
        share=share * facts.coverage,
        text=f"the CPU of {worst.host or 'the host'} was busy for "
        f"{percent(worst.busy / worst.capacity)} of the run, and {who} "
        f"{percent(part / worst.busy)} of it",
        evidence=[
            Evidence("host", worst.host or "", "text"),
            Evidence("cores", worst.cores, "count"),
            Evidence("time of all cores", worst.capacity, "ns"),
            Evidence("of it while they were busy", worst.busy, "ns"),
            Evidence("CPU time of the run's traced processes", worst.used, "ns"),
            Evidence("time that a hypervisor gave to other machines", worst.stolen, "ns"),
        ],
        change=_OTHER_MACHINES if worst.is_stolen else _OTHER_PROCESSES,
        gain=(0.0, 1.0),
    )
