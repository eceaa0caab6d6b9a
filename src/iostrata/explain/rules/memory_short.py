"""Hosts on which the run's threads stand still because there is too little memory."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import SYSTEM
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import with_own
from iostrata.records import Bytes, Ns, Record
from iostrata.text import percent, size

LEAST = 0.1  # of the time, on a host


class HostStalls(Record, frozen=True):
    """The time that a host was looked at with its kernel's pressure, and of it the time in which
    at least one thread was stalled for memory; what its disks read, and the run's traced processes
    of it; the most memory in use, and all that there is.
    """

    host: str | None
    time: Ns
    stalled: Ns
    read: Bytes
    own: Bytes
    used: Bytes
    total: Bytes

    @property
    def part(self) -> float:
        """Of the stalls, those of the run. The kernel does not say whose they are; who waits for
        memory waits for pages that are read again.
        """
        return min(1.0, self.own / self.read) if self.read else 0.0

    @property
    def cost(self) -> float:
        return self.stalled * self.part


def evidence(_: Workforce) -> ir.Table:
    rows = SYSTEM.filter(SYSTEM.interval > 0, SYSTEM.memory_pressure.notnull())
    hosts = rows.group_by("host").agg(
        time=rows.interval.sum().cast("int64"),
        stalled=rows.memory_pressure.sum().cast("int64"),
        read=rows.disk_read.sum().cast("int64"),
        used=rows.mem_used.max().fill_null(0),
        total=rows.mem_total.max().fill_null(0),
    )
    return with_own(hosts, own=("disk_read",)).order_by("host")


@rule(
    title="Memory is short",
    evidence=Query(evidence, HostStalls),
    why="Where memory is short, the kernel takes pages of programs and of the file cache away, and "
    "reads them from the disk again when they are used: every call may wait for that.",
    unless="other programs stood still, and the run's processes read new data meanwhile.",
    most="warning",
    explains=("disk-taken", "disk-bound", "slow-disk", "local-sync"),
)
def judge(rows: list[HostStalls], facts: RunFacts) -> Judgement | None:
    short = [row for row in rows if row.cost >= LEAST * row.time]
    if not short:
        return None
    worst = max(short, key=lambda row: row.cost / row.time)
    share = sum(row.cost for row in short) / sum(row.time for row in rows)
    return Judgement(
        share=min(1.0, share) * facts.coverage,
        text=f"threads of {worst.host or 'the host'} stood still for memory in "
        f"{percent(worst.stalled / worst.time)} of the time, and the run's processes read "
        f"{percent(worst.part)} of what its disks read; up to {size(worst.used)} of "
        f"{size(worst.total)} were in use",
        evidence=[
            Evidence("host", worst.host or "", "text"),
            Evidence("time of the run", worst.time, "ns"),
            Evidence("of it some thread was stalled for memory", worst.stalled, "ns"),
            Evidence("bytes that its disks read", worst.read, "bytes"),
            Evidence("of them for the run's traced processes", worst.own, "bytes"),
            Evidence("most memory in use", worst.used, "bytes"),
            Evidence("memory of the host", worst.total, "bytes"),
        ],
        change=[
            Change("run fewer processes at once, or give them smaller heaps"),
            Change("where a cgroup limits them, give it more memory: its file cache counts, too"),
        ],
        gain=(0.0, 1.0),
    )
