"""Where the time of tests on several workers goes: what each of them did, and which group when.

Printed at the end, so that a long run shows what holds it up: a worker that has nothing to do, a
group that begins late, or the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

LEAST = 60.0  # s: of a shorter run nobody asks
BUSY = slice(0, 8)  # of /proc/stat: without what guests had, which is in user
IDLE = slice(3, 5)  # idle, and waiting for a disk


@dataclass
class Span:
    """When something ran, s since the epoch, and how much of it tests took."""

    start: float
    stop: float
    took: float = 0.0

    def add(self, start: float, stop: float) -> None:
        self.start, self.stop = min(self.start, start), max(self.stop, stop)
        self.took += stop - start


@dataclass
class Balance:
    """Spans by worker, and by group with its worker; CPU ticks when it began."""

    cpu: list[int]
    workers: dict[str, Span] = field(default_factory=dict)
    groups: dict[tuple[str, str], Span] = field(default_factory=dict)

    def add(self, worker: str, group: str, start: float, stop: float) -> None:
        self.workers.setdefault(worker, Span(start, start)).add(start, stop)
        self.groups.setdefault((group, worker), Span(start, start)).add(start, stop)

    def lines(self, cpu: list[int]) -> list[str]:
        """Nothing of a short run, or one without workers."""
        if not self.workers:
            return []
        begin = min(span.start for span in self.workers.values())
        whole = max(span.stop for span in self.workers.values()) - begin
        if whole < LEAST or len(self.workers) < 2:
            return []
        ticks = [after - before for before, after in zip(self.cpu, cpu, strict=True)]
        busy = 1 - sum(ticks[IDLE]) / max(1, sum(ticks[BUSY]))
        done = ", ".join(f"{name} {span.took:.0f} s" for name, span in sorted(self.workers.items()))
        lines = [f"{whole:.0f} s on workers that ran tests for {done}; the CPU was {busy:.0%} busy"]
        for (group, worker), span in sorted(self.groups.items(), key=lambda item: item[1].start):
            lines.append(
                f"  {group or 'no group':10} {worker} from {span.start - begin:5.0f} s to "
                f"{span.stop - begin:5.0f} s, {span.took:5.0f} s of tests"
            )
        return lines


BALANCE = pytest.StashKey[Balance]()


def cpu_ticks() -> list[int]:
    """Of the host, by state."""
    return [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[BALANCE] = Balance(cpu_ticks())
    session.config.pluginmanager.register(Listener(session.config.stash[BALANCE]))


class Listener:
    """Hears of each report of a worker."""

    def __init__(self, balance: Balance) -> None:
        self.balance = balance

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        node: Any = getattr(report, "node", None)
        if node is not None:
            _, _, group = report.nodeid.rpartition("@")
            named = group if "::" not in group else ""
            self.balance.add(node.gateway.id, named, report.start, report.stop)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[BALANCE].lines(cpu_ticks()):
        terminalreporter.write_line(line)
