"""Processes that wait for a program which they started, as Hadoop Streaming does."""

from __future__ import annotations

import ibis
from ibis.expr import types as ir

from iostrata.analyse.children import ChildProgram, child_programs, pipe_waits
from iostrata.analyse.tables import CHILDREN, PROCESSES
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.explain.rules.parts import READS, idle_times, named, one, totals
from iostrata.records import Count, Ns, Record
from iostrata.text import plural, seconds

MOST_NAMED = 3  # programs
LEAST_PART = 0.02  # of the CPU of all children, of those that are named


class ChildWaits(Record, frozen=True):
    """Processes that read pipes of others: for how long their longest reader read, and for how much
    of that the process may have had nothing else to do: it used no CPU.

    And `parents`, processes that started programs: `computed` is CPU time of these, no more than
    the time in which a process neither computed nor was in a traced call.
    """

    processes: Count
    waited: Ns
    idle: Ns
    parents: Count
    computed: Ns


def evidence(workforce: Workforce) -> ir.Table:
    return _readers(workforce).cross_join(_parents(workforce))


def _readers(workforce: Workforce) -> ir.Table:
    waits = pipe_waits(workforce.rows(named("java.read")))
    ran = PROCESSES.mutate(idle=PROCESSES.end - PROCESSES.start - PROCESSES.cpu.fill_null(0))
    ran = ran.group_by("proc").agg(idle=ibis.greatest(ran.idle.max().fill_null(0), 0))
    both = waits.join(ran, "proc")
    both = both.mutate(idle=ibis.least(both.waited, both.idle))
    return both.agg(processes=both.count(), **totals(both, "waited", "idle"))


def _parents(workforce: Workforce) -> ir.Table:
    of = CHILDREN.group_by(proc=CHILDREN.parent).agg(cpu=CHILDREN.cpu.sum().cast("int64"))
    both = idle_times(workforce).join(of, "proc")
    both = both.mutate(computed=ibis.least(both.idle, both.cpu.fill_null(0)))
    return both.agg(parents=both.count(), **totals(both, "computed"))


def _programs(_: Workforce) -> ir.Table:
    return child_programs()


PROGRAMS = Query(_programs, ChildProgram)


@rule(
    title="The time goes into a child process",
    evidence=Query(evidence, ChildWaits),
    why="A JVM that starts a program, as Hadoop Streaming does for each task, waits for its "
    "output, or does nothing while it computes. What the program does itself is traced with "
    "--native only.",
    unless="the child is idle, and the process waits for something else meanwhile.",
    most="warning",
    explains=("cpu-taken", "idle"),
)
def judge(rows: list[ChildWaits], facts: RunFacts) -> Judgement | None:
    row = rows[0]
    read = one(facts.answer(READS), "hdfs.read").time
    output = row.idle - read  # a child that gets its input from there waits for it, too
    cost = max(output, row.computed)
    if cost <= 0:
        return None
    programs = _worth_a_name(facts.answer(PROGRAMS))
    return Judgement(
        share=facts.share(cost),
        text=_text(row, programs, cost),
        evidence=[
            Evidence("processes that read pipes of others", row.processes, "count"),
            Evidence("time of their longest readers", row.waited, "ns"),
            Evidence("of it without CPU time of the process", row.idle, "ns"),
            Evidence("time of reads from HDFS", read, "ns"),
            Evidence("processes that started programs", row.parents, "count"),
            Evidence("CPU time of these while the processes were idle", row.computed, "ns"),
            *_of(programs),
        ],
        change=[
            Change(
                "look at what the program does: iostrata calltree, of a run that was recorded "
                "with --native"
            ),
            Change("let the program read and write large parts, or do its work in the JVM"),
        ],
        gain=(0.0, 1.0),
    )


def _text(row: ChildWaits, programs: list[ChildProgram], cost: Ns) -> str:
    """How long which of the two it was."""
    is_output = cost > row.computed
    processes = row.processes if is_output else row.parents
    who = "it" if processes == 1 else "they"
    names = ", ".join(program.program or "?" for program in programs[:MOST_NAMED])
    of = f"programs that {who} had started" + (f": {names}" if names else "")
    if is_output:
        return f"{plural(processes, 'process')} waited {seconds(cost)} for the output of {of}"
    return (
        f"{plural(processes, 'process')} did nothing for {seconds(cost)} that were CPU time of {of}"
    )


def _worth_a_name(programs: list[ChildProgram]) -> list[ChildProgram]:
    """Those that had a part of the children's CPU: scripts start many programs that end at once."""
    whole = sum(program.cpu for program in programs)
    return [program for program in programs if program.cpu >= whole * LEAST_PART]


def _of(programs: list[ChildProgram]) -> list[Evidence]:
    """What the kernel says of the programs that had most CPU."""
    found = []
    for program in programs[:MOST_NAMED]:
        name = program.program or "?"
        found.append(Evidence(f"child processes that ran {name}", program.processes, "count"))
        found.append(Evidence(f"CPU time of {name}", program.cpu, "ns"))
        if program.io_read is not None and program.io_written is not None:
            moved = program.io_read + program.io_written
            found.append(Evidence(f"bytes that {name} read and wrote", moved, "bytes"))
    return found
