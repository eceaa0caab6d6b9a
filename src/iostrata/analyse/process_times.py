"""What processes did with their time, by role: what the scheduler says of their threads."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.processes import Process
from iostrata.records import Count, Ns, Record


class ProcessTime(Record, frozen=True):
    """Traced processes of a role that know what their threads did while the run was recorded.

    `lived` is their wall time together, null for those that run on. The rest is of all threads:
    `begin` is CPU time from the start of processes to the begin of their programs, and not in what
    follows; of those that started while the run was recorded, null if there is none. `program` is
    CPU time without that of the JVM's own threads, `class_loading` how long its threads loaded
    classes, by the JVM's counters (null where a process has none), `jvm` CPU time of compilers and
    garbage collectors, at least, and `compilers` the part of the former (null in older runs).
    `queued` is how long threads of the program could have run and waited for a CPU, at least;
    `throttled`, over all CPUs, how long the CPU limit of their cgroup let them wait.
    """

    role: str
    processes: Count
    lived: Ns | None
    begin: Ns | None
    program: Ns
    class_loading: Ns | None
    jvm: Ns
    compilers: Ns | None
    queued: Ns
    throttled: Ns


def process_times(processes: Sequence[Process]) -> list[ProcessTime]:
    """By role, those first that had most CPU; none of older runs and of imports."""
    known = [one for one in processes if one.traced and one.cpu and one.cpu_jvm is not None]
    roles = {one.role or "" for one in known}
    times = [_of_role(role, [one for one in known if (one.role or "") == role]) for role in roles]
    return sorted(times, key=lambda row: (-row.program - row.jvm, row.role))


def _of_role(role: str, processes: Sequence[Process]) -> ProcessTime:
    jvm = sum(one.cpu_jvm or 0 for one in processes)
    begins = [one.cpu_start for one in processes if one.cpu_start is not None]
    lives = [max(0, one.end - one.start) if one.end and one.start else None for one in processes]
    return ProcessTime(
        role=role,
        processes=len(processes),
        lived=_sum_of_all(lives),
        begin=sum(begins) if begins else None,
        program=max(0, sum(one.cpu or 0 for one in processes) - jvm),
        class_loading=_sum_of_all([one.class_loading for one in processes]),
        jvm=jvm,
        compilers=_sum_of_all([one.cpu_compilers for one in processes]),
        queued=sum(one.queued or 0 for one in processes),
        throttled=sum(one.throttled or 0 for one in processes),
    )


def _sum_of_all(times: Sequence[Ns | None]) -> Ns | None:
    """None if one is not known."""
    known = [time for time in times if time is not None]
    return sum(known) if len(known) == len(times) else None
