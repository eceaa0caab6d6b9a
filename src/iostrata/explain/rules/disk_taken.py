"""I/O that waits for a disk which others on its hosts keep busy."""

from __future__ import annotations

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.explain.rules.parts import HostDisks, host_disks
from iostrata.text import percent, size

BUSY = 0.5  # of the run, at the least
OTHERS = 0.5  # of the bytes of its disks, at the least


@rule(
    title="Others use the disks",
    evidence=Query(host_disks, HostDisks),
    why="A disk serves one request after the other. Where processes that are no part of the run "
    "keep it busy, each of the run's own requests waits behind theirs.",
    unless="they write back what the run wrote before, or work for this run (a database, NFS).",
    most="warning",
    explains=("disk-bound", "local-sync", "slow-disk", "datanode-sync"),
)
def judge(rows: list[HostDisks], facts: RunFacts) -> Judgement | None:
    busy = [
        row
        for row in rows
        if row.busy >= BUSY * row.time and row.moved - row.own >= max(1, OTHERS * row.moved)
    ]
    if not busy:
        return None
    worst = max(busy, key=lambda row: row.moved - row.own)
    waited = sum(row.calls * (row.moved - row.own) // row.moved for row in busy)
    return Judgement(
        share=facts.share(waited),
        text=f"a disk of {worst.host or 'the host'} was busy for "
        f"{percent(worst.busy / worst.time)} of the run, and processes that were not traced moved "
        f"{size(worst.moved - worst.own)} of {size(worst.moved)}",
        evidence=[
            Evidence("host", worst.host or "", "text"),
            Evidence("time of the run", worst.time, "ns"),
            Evidence("of it the busiest disk was busy", worst.busy, "ns"),
            Evidence("bytes of all disks", worst.moved, "bytes"),
            Evidence("of it the run's traced processes", worst.own, "bytes"),
            Evidence("time of its calls on local files", worst.calls, "ns"),
        ],
        change=[
            Change("find out with iotop or pidstat -d who that is, and run them at another time"),
            Change("give them a disk of their own, or a limit of I/O, with cgroups (io.max)"),
        ],
        gain=(0.0, 1.0),
    )
