"""Processes whose container may not use more CPU than it does."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import PROCESSES
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import totals
from iostrata.records import Count, Ns, Record
from iostrata.text import percent, plural, seconds

LEAST = 0.1  # of the time that they ran
CHANGES = {
    "mapreduce": [
        Change("ask for more cores for each task", "mapreduce.map.cpu.vcores"),
        Change(
            "let containers use CPU that nobody else wants",
            "yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage",
            after="false",
        ),
    ],
    "spark": [
        Change("ask for more cores for each executor", "spark.executor.cores"),
        Change("raise the limit on Kubernetes", "spark.kubernetes.executor.limit.cores"),
    ],
}
OF_PROGRAM = [
    Change("raise the CPU limit of its container (docker --cpus, resources.limits.cpu, cpu.max)")
]


class Throttled(Record, frozen=True):
    """Processes that the CPU limit of their cgroup held back: time that they ran, and in which
    threads of them could have run and were not let.
    """

    processes: Count
    ran: Ns
    throttled: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(PROCESSES)
    rows = rows.filter(rows.traced, rows.throttled > 0, rows.end > rows.start)
    ran = rows.end - rows.start
    # over all CPUs: of a program with several threads it may be more than the time that there was
    rows = rows.mutate(ran=ran, throttled=ibis.least(rows.throttled, ran))
    return rows.agg(processes=rows.count(), **totals(rows, "ran", "throttled"))


@rule(
    title="A limit of CPU time holds the processes back",
    evidence=Query(evidence, Throttled),
    why="The cgroup of a container has so much CPU time in each tenth of a second. When its "
    "threads have used that, none of them runs until the next tenth begins.",
    unless="the limit is there to protect others, and the job may take as long as it does.",
    explains=("cpu-bound", "gc-bound", "cpu-taken"),
)
def judge(rows: list[Throttled], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.throttled < LEAST * facts.worked:
        return None
    return Judgement(
        share=facts.share(row.throttled),
        text=f"{plural(row.processes, 'process')} ran for {seconds(row.ran)}, and for "
        f"{percent(row.throttled / row.ran)} of that their CPU limit let threads wait",
        evidence=[
            Evidence("processes that a limit held back", row.processes, "count"),
            Evidence("time that they ran", row.ran, "ns"),
            Evidence("time in which the limit let threads wait", row.throttled, "ns"),
        ],
        change=CHANGES.get(facts.kind, OF_PROGRAM),
        gain=(0.5, 1.0),
    )
