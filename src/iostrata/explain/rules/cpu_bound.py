"""Work that the CPU limits, so that faster storage does not help."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.tables import PROCESSES
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import totals
from iostrata.records import Count, Ns, Record
from iostrata.text import percent, seconds

LEAST = 0.8  # of a core, for as long as the processes ran
MUCH = 0.3  # of the CPU time
FEWER = Change("start fewer JVMs that live longer: each compiles what it runs anew")


class CpuTime(Record, frozen=True):
    """CPU time of all workers; `cpu_jvm`: of it that of compilers and garbage collectors."""

    processes: Count
    cpu: Ns
    cpu_jvm: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(PROCESSES)
    rows = rows.filter(rows.traced)
    return rows.agg(processes=rows.count(), **totals(rows, "cpu", "cpu_jvm"))


@rule(
    title="The CPU is the limit",
    evidence=Query(evidence, CpuTime),
    why="When the cores are busy all the time, faster disks and networks would only be idle.",
    unless="another finding names what uses the CPU (garbage collection, tiny calls, compression).",
    most="warning",
)
def judge(rows: list[CpuTime], facts: RunFacts) -> Judgement | None:
    cpu = rows[0].cpu
    part = cpu / facts.worked
    if part < LEAST:
        return None
    of_jvm = rows[0].cpu_jvm / cpu
    whose = f" ({percent(of_jvm)} of it by the JVM's own compilers and garbage collectors)"
    return Judgement(
        share=min(1.0, part) * facts.coverage,
        text=f"processes used {seconds(cpu)} of CPU time{whose if of_jvm >= MUCH else ''} while "
        f"they ran for {seconds(facts.worked)}, so they hardly wait for storage",
        evidence=[
            Evidence("CPU time of the processes", cpu, "ns"),
            Evidence("of it by compilers and garbage collectors", rows[0].cpu_jvm, "ns"),
            Evidence("time that they ran", facts.worked, "ns"),
        ],
        change=[
            *([FEWER] if of_jvm >= MUCH else []),
            Change("run more tasks at once, or use faster cores; profile what the job computes"),
            Change("use cheaper codecs, and convert each record less often"),
        ],
        gain=(0.0, 0.0),
    )
