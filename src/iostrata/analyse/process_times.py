"""What processes did with their time, by role: what the scheduler says of their threads."""

from __future__ import annotations

from collections.abc import Sequence

from iostrata.analyse.processes import Process
from iostrata.records import Count, Ns, Record


class ProcessTime(Record, frozen=True):
    """Traced processes of a role that know what their threads did while the run was recorded.

    `lived` is their wall time together, null for those that run on. The rest is of all threads:
    `program` is CPU time without that of the JVM's own threads, `jvm` that of compilers and garbage
    collectors, at least, and `compilers` the part of the former (null in older runs). `queued` is
    how long threads of the program could have run and waited for a CPU, at least; `throttled`, over
    all CPUs, how long the CPU limit of their cgroup let them wait.
    """

    role: str
    processes: Count
    lived: Ns | None
    program: Ns
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
    compilers = [one.cpu_compilers for one in processes if one.cpu_compilers is not None]
    lives = [max(0, one.end - one.start) for one in processes if one.end and one.start]
    return ProcessTime(
        role=role,
        processes=len(processes),
        lived=sum(lives) if len(lives) == len(processes) else None,
        program=max(0, sum(one.cpu or 0 for one in processes) - jvm),
        jvm=jvm,
        compilers=sum(compilers) if len(compilers) == len(processes) else None,
        queued=sum(one.queued or 0 for one in processes),
        throttled=sum(one.throttled or 0 for one in processes),
    )
