"""Processes that wait for a program which they started, as Hadoop Streaming does."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.tables import CALLS, PROCESSES
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import READS, account, named, one, totals
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds


class ChildWaits(Record, frozen=True):
    """Processes that read pipes of others: for how long their longest reader read, and for how much
    of that the process may have had nothing else to do: it used no CPU.
    """

    processes: Count
    waited: Ns
    idle: Ns


def evidence(workforce: Workforce) -> ir.Table:
    rows = workforce.rows(named("java.read"))
    rows = account(rows.filter(rows.category == "pipe", rows.proc.notnull()), "proc", "thread")
    # what comes from standard input is of the process that started this one
    stdin = CALLS.filter(CALLS.layer == "java", CALLS.category == "pipe", CALLS.target == "stdin")
    rows = rows.anti_join(stdin, ["proc", "thread"])
    waits = rows.group_by("proc").agg(waited=rows.time.max())
    ran = PROCESSES.mutate(idle=PROCESSES.end - PROCESSES.start - PROCESSES.cpu.fill_null(0))
    ran = ran.group_by("proc").agg(idle=ibis.greatest(ran.idle.max().fill_null(0), 0))
    both = waits.join(ran, "proc")
    both = both.mutate(idle=ibis.least(both.waited, both.idle))
    return both.agg(processes=both.count(), **totals(both, "waited", "idle"))


@rule(
    title="The time goes into a child process",
    evidence=Query(evidence, ChildWaits),
    why="A program that a JVM starts, as Hadoop Streaming does for each task, is not traced. What "
    "is seen is how long the JVM waits for its output.",
    unless="the child is idle, and the process waits for something else meanwhile.",
    most="warning",
    explains=("cpu-taken", "idle"),
)
def judge(rows: list[ChildWaits], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    read = one(facts.answer(READS), "hdfs.read").time
    cost = row.idle - read  # a child that gets its input from there waits for it, too
    if cost <= 0:
        return None
    who = "it" if row.processes == 1 else "they"
    return Judgement(
        share=facts.share(cost),
        text=f"{plural(row.processes, 'process')} waited {seconds(cost)} for the output of "
        f"programs that {who} had started",
        evidence=[
            Evidence("processes that read pipes of others", row.processes, "count"),
            Evidence("time of their longest readers", row.waited, "ns"),
            Evidence("of it without CPU time of the process", row.idle, "ns"),
            Evidence("time of reads from HDFS", read, "ns"),
        ],
        change=[
            Change(
                "find out what the program does: strace -f -ttt -T -y -o trace.txt PROGRAM, then "
                "iostrata import trace.txt"
            ),
            Change("let the program read and write large parts, or do its work in the JVM"),
        ],
        gain=(0.0, 1.0),
    )
