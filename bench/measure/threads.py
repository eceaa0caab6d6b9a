"""CPU of a cluster by groups of threads, also of threads and processes that are gone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure.group import Group
from bench.measure.taskstats import EndedThreads

# The first that matches the name of a thread, which has 15 characters.
GROUPS = (
    ("second compiler", "C2 Compiler"),
    ("first compiler", "C1 Compiler"),
    ("garbage collector", "GC |G1 |VM Thread"),
    ("our thread", "iostrata$"),
    ("collector", "iostrata-native"),
    ("recorder", "python"),
    ("spills", "SpillThread|SortSpill"),
    ("DataXceivers", "DataXceiver|PacketResponder"),
    ("main threads of JVMs", "java$|main$"),
)
OTHERS = "all other threads"


def group_of(name: str) -> str:
    """The group of a thread's name."""
    return next((group for group, names in GROUPS if re.match(names, name)), OTHERS)


@contextmanager
def by_threads(cluster: Group, found: dict[str, float]) -> Iterator[None]:
    """Puts CPU seconds by group of threads into `found`, of all that runs in the control group.

    Threads that live at the end are read from /proc, those that have ended from taskstats. Whatever
    starts on the machine meanwhile counts as the cluster's.
    """
    ours = _living(cluster)
    others = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {pid for pid, _ in ours}
    with EndedThreads() as watch:
        yield
        at_end = _living(cluster)
    sums: Counter[str] = Counter()
    for thread, (name, cpu) in at_end.items():
        sums[group_of(name)] += cpu - ours.get(thread, ("", 0))[1]
    for one in watch.ended:
        if one.tgid not in others and (one.tgid, one.tid) not in at_end:
            sums[group_of(one.name)] += one.cpu - ours.get((one.tgid, one.tid), ("", 0))[1]
    found.update({group: round(cpu / 1e9, 4) for group, cpu in sorted(sums.items())})
    if watch.missed:
        found["threads that the kernel did not report"] = watch.missed


def _living(cluster: Group) -> dict[tuple[int, int], tuple[str, int]]:
    """Name and ns of CPU so far by (pid, tid)."""
    found = {}
    for pid in cluster.pids():
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                cpu = int((task / "schedstat").read_text().split()[0])
                name = (task / "comm").read_text().strip()
            except (OSError, IndexError):
                continue
            found[pid, int(task.name)] = (name, cpu)
    return found
