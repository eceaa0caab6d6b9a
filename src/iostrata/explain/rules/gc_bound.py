"""JVMs that stand still to collect garbage."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import PAUSES
from iostrata.explain import Change, Evidence, Judgement, Kind, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds

HEAP: dict[Kind, list[Change]] = {
    "mapreduce": [
        Change("use a larger heap", "mapreduce.map.java.opts", after="-Xmx of 0.8 × memory.mb"),
        Change("give the container room for this heap", "mapreduce.map.memory.mb"),
    ],
    "spark": [Change("use a larger heap", "spark.executor.memory")],
    "hbase": [
        Change("use a larger heap", "-Xmx in HBASE_OPTS"),
        Change("keep less in the heap of a RegionServer", "hfile.block.cache.size"),
    ],
    "program": [Change("use a larger heap", "-Xmx")],
}


class CollectorPauses(Record, frozen=True):
    """CollectorPauses for garbage collection of all workers."""

    pauses: Count
    time: Ns
    longest: Ns
    processes: Count


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(PAUSES)
    rows = rows.filter(rows.kind == "sum")
    return rows.agg(
        pauses=rows["count"].sum().fill_null(0).cast("int64"),
        time=rows.timed_dur.sum().fill_null(0).cast("int64"),
        longest=rows["max"].max().fill_null(0),
        processes=rows.proc.nunique(),
    )


@rule(
    title="Garbage collection stops the job",
    evidence=Query(evidence, CollectorPauses),
    why="While a JVM collects garbage, none of its threads reads, writes or computes. Faster "
    "storage does not change that.",
    unless="the heap is as large as the host allows.",
    explains=("cpu-bound", "straggler"),
)
def judge(rows: list[CollectorPauses], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if not row.pauses:
        return None
    return Judgement(
        share=facts.share(row.time),
        text=f"{plural(row.processes, 'JVM')} stood still for {seconds(row.time)} in "
        f"{plural(row.pauses, 'garbage collection')}; the longest took {seconds(row.longest)}",
        evidence=[
            Evidence("pauses", row.pauses, "count"),
            Evidence("time of all pauses", row.time, "ns"),
            Evidence("longest pause", row.longest, "ns"),
        ],
        change=[*HEAP[facts.kind], Change("make less garbage: create no objects for each record")],
        gain=(0.5, 0.95),
    )
