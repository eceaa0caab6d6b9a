"""What all rules know of a run: how long it took, and who worked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ibis.expr import types as ir

from iostrata.analyse.engine import Engine
from iostrata.analyse.tables import EVENTS, PROCESSES, SUMS, Row
from iostrata.schema.roles import SERVERS
from iostrata.store.runs import Run

TASKS = ("map", "reduce", "task")
# Without tasks, whatever is no server is what people wait for.


@dataclass(frozen=True)
class Scope:
    """The roles of those that do the run's work: its tasks, else its programs; racks of hosts."""

    roles: tuple[str, ...]
    racks: Mapping[str, str] = field(default_factory=dict, hash=False)

    def workers(self, rows: ir.Table = SUMS) -> ir.Table:
        """Rows of those alone."""
        return rows.filter(rows.role.isin(self.roles))


@dataclass(frozen=True)
class Worker:
    """A process that does the run's work; times in ns, `end` that of the run while it runs."""

    role: str
    host: str
    job: str
    task: str
    start: int
    end: int
    cpu: int

    @property
    def dur(self) -> int:
        return max(0, self.end - self.start)


class Facts:
    """Facts of one run, each asked once."""

    def __init__(self, engine: Engine, run: Run) -> None:
        self.engine = engine
        self.run = run

    def rows(self, expression: ir.Table) -> list[Row]:
        """Rows of an expression over the run."""
        return self.engine.rows(expression)

    @cached_property
    def scope(self) -> Scope:
        roles = {row["role"] for row in self._processes}
        tasks = tuple(role for role in TASKS if role in roles)
        return Scope(tasks or tuple(sorted(roles - {*SERVERS, "appmaster"})), self.run.racks)

    @cached_property
    def _processes(self) -> list[Row]:
        rows = PROCESSES.filter(PROCESSES.traced, PROCESSES.role.notnull())
        names = ("role", "host", "job", "task", "start", "end", "cpu")
        return self.rows(rows.select(*names).order_by("start", "task"))

    @cached_property
    def begin(self) -> int:
        """ns since the epoch; of a run without one (imported), that of its first event."""
        return self.run.start or self._span[0]

    @cached_property
    def wall(self) -> int:
        """ns from the begin of the run to its end, or to its last event while it runs."""
        end = self.run.end or self._span[1]
        return max(1, end - self.begin)

    @cached_property
    def _span(self) -> tuple[int, int]:
        ends = EVENTS.start + EVENTS.dur.fill_null(0)
        row = self.rows(EVENTS.agg(first=EVENTS.start.min(), last=ends.max()))[0]
        return row["first"] or 0, row["last"] or 0

    @cached_property
    def workers(self) -> list[Worker]:
        """Those that do the run's work, in order of start."""
        until = self.begin + self.wall
        return [
            Worker(
                row["role"],
                row["host"] or "",
                row["job"] or "",
                row["task"] or "",
                row["start"] or self.begin,
                row["end"] or until,
                row["cpu"] or 0,
            )
            for row in self._processes
            if row["role"] in self.scope.roles
        ]

    @cached_property
    def worked(self) -> int:
        """ns of all workers together."""
        return max(1, sum(worker.dur for worker in self.workers))

    @cached_property
    def coverage(self) -> float:
        """The part of the wall time in which at least one worker ran."""
        covered, until = 0, 0
        for worker in self.workers:
            covered += max(0, worker.end - max(worker.start, until))
            until = max(until, worker.end)
        return min(1.0, covered / self.wall)

    @cached_property
    def at_once(self) -> int:
        """The most workers that ran at the same time."""
        edges = sorted(
            edge for w in self.workers for edge in ((w.start, 1), (max(w.end, w.start + 1), -1))
        )
        running = most = 0
        for _, change in edges:
            running += change
            most = max(most, running)
        return most

    def share(self, ns: float) -> float:
        """The part of the run's wall time that `ns` of workers' time stand for."""
        return min(1.0, max(0.0, ns / self.worked)) * self.coverage

    def share_of_wall(self, ns: float) -> float:
        """The part of the run's wall time that `ns` of it are."""
        return min(1.0, max(0.0, ns / self.wall))

    @cached_property
    def start_up(self) -> int:
        """ns that a task takes to start and to end, on average: its process without `task.run`."""
        runs = self.scope.workers().filter(lambda t: (t.layer == "task") & (t["op"] == "run"))
        row = self.rows(runs.agg(time=runs.timed_dur.sum().fill_null(0).cast("int64")))[0]
        return max(0, self.worked - int(row["time"])) // max(1, len(self.workers))
