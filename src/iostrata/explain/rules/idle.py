"""Processes that neither work nor do I/O, as where tasks sleep, or wait for each other."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import idle_times, totals
from iostrata.records import Count, Ns, Record
from iostrata.text import percent, plural, seconds

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
    rows = idle_times(workforce)
    return rows.agg(
        processes=rows.count(), **totals(rows, "ran", "worked", "queued", "called", "idle")
    )


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
