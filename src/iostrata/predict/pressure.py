"""What else happened while a sample was measured: CPU of others, and pressure (PSI)."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from iostrata.records import Ns, Record, Share

_PRESSURE = Path("/proc/pressure")
_TICKS = os.sysconf("SC_CLK_TCK")  # a second
_BUSY = (0, 1, 2, 5, 6)  # of the line `cpu`: user, nice, system, irq, softirq; steal is nobody's


class Circumstances(Record, frozen=True):
    """Of a sample. `others`: the share of all cores that processes took which it did not start.

    `cpu`, `io` and `memory`: the share of its time in which some task waited for that (PSI's
    `some`); null where the kernel does not say.
    """

    wall: Ns
    others: Share
    cpu: Share | None
    io: Share | None
    memory: Share | None


@dataclass(frozen=True)
class HostCounters:
    """A look at the counters of host and children."""

    at: int  # ns
    busy: float  # s of CPU, of all
    own: float  # s of CPU, of children that have ended
    waited: dict[str, int]  # µs

    @staticmethod
    def now() -> HostCounters:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        ticks = sum(int(fields[place]) for place in _BUSY)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return HostCounters(
            at=time.monotonic_ns(),
            busy=ticks / _TICKS,
            own=children.ru_utime + children.ru_stime,
            waited={name: found for name in ("cpu", "io", "memory") if (found := _waited(name))},
        )

    def since(self, before: HostCounters) -> Circumstances:
        """From that reading to this one."""
        wall = max(self.at - before.at, 1)
        cores = os.cpu_count() or 1
        # both are counted in ticks of each core
        others = (self.busy - before.busy) - (self.own - before.own) - cores / _TICKS

        def share(name: str) -> float | None:
            if name not in self.waited or name not in before.waited:
                return None
            return min(1.0, (self.waited[name] - before.waited[name]) * 1e3 / wall)

        return Circumstances(
            wall=wall,
            others=min(1.0, max(0.0, others) / (wall / 1e9 * cores)),
            cpu=share("cpu"),
            io=share("io"),
            memory=share("memory"),
        )


def _waited(name: str) -> int:
    try:
        first = (_PRESSURE / name).read_text().split("\n", 1)[0]
        return int(first.rpartition("total=")[2])
    except (OSError, ValueError):
        return 0
