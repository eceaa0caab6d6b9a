"""Processes that neither work nor do I/O, as where tasks sleep, or wait for each other."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.account import account
from iostrata.analyse.tables import PROCESSES, program_cpu
from iostrata.analyse.waiting import WAITING_OPERATIONS
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import totals
from iostrata.records import Count, Ns, Record
from iostrata.text import percent, plural, seconds

MAIN = 1  # the thread that a JVM starts with
LEAST = 0.3  # of the time that they ran


class IdleTime(Record, frozen=True):
    """Processes that know what their threads did, and how long they ran: of it their program had
    CPU, its threads waited for one, they were in calls; and what is left.
    """

    processes: Count
    ran: Ns
    worked: Ns
    queued: Ns
    called: Ns
    idle: Ns


def evidence(workforce: Workforce) -> ir.Table:
    ran = workforce.rows(PROCESSES)
    ran = ran.filter(ran.traced, ran.proc.notnull(), ran.cpu_jvm.notnull(), ran.end > ran.start)
    ran = ran.select("proc", "queued", ran=ran.end - ran.start, worked=program_cpu(ran))
    calls = account(_waited_for(workforce), "proc").select("proc", called="time")
    rows = ran.left_join(calls, "proc").select(
        "ran", "worked", "queued", called=calls.called.fill_null(0)
    )
    busy = rows.worked + rows.queued + rows.called
    rows = rows.mutate(idle=ibis.greatest(rows.ran - busy, 0))
    return rows.agg(
        processes=rows.count(), **totals(rows, "ran", "worked", "queued", "called", "idle")
    )


def _waited_for(workforce: Workforce) -> ir.Table:
    """Sums of calls that a process may have waited for: all of its main thread, and those of its
    other threads that wait for no work to come.
    """
    rows = workforce.rows()
    name = rows.layer + "." + rows["op"]
    is_call = ~rows.layer.isin(["task", "jvm"]) | name.isin(WAITING_OPERATIONS)
    is_stream = (rows.layer == "java") & rows.category.isin(["pipe", "socket"])
    waits = is_stream | name.isin(WAITING_OPERATIONS)
    return rows.filter(rows.proc.notnull(), is_call, (rows.tid == MAIN) | ~waits)


@rule(
    title="The processes are idle",
    evidence=Query(evidence, IdleTime),
    why="A process that has no CPU, waits for none, and is in no traced call sleeps, or waits for "
    "a lock, for another process, or for I/O that is not traced.",
    unless="it is there to wait: for a job on servers that are not traced, or for users.",
    most="warning",
)
def judge(rows: list[IdleTime], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    if row.idle < LEAST * max(1, row.ran):
        return None
    they = "it neither computed nor was" if row.processes == 1 else "they neither computed nor were"
    return Judgement(
        share=facts.share(row.idle),
        text=f"{plural(row.processes, 'process')} ran for {seconds(row.ran)}, and for "
        f"{percent(row.idle / row.ran)} of that {they} in a traced call",
        evidence=[
            Evidence("processes that know what their threads did", row.processes, "count"),
            Evidence("time that they ran", row.ran, "ns"),
            Evidence("CPU time of their program", row.worked, "ns"),
            Evidence("time in which its threads waited for a CPU", row.queued, "ns"),
            Evidence("time of calls that they may have waited for", row.called, "ns"),
            Evidence("time that is left", row.idle, "ns"),
        ],
        change=[
            Change("look at what its threads do meanwhile: jstack PID, three times in a row"),
            Change(
                "trace what it waits for as well, or add points of your own (docs/add-a-point.md)"
            ),
        ],
        gain=(0.0, 0.0),
    )
