"""Facts of a run that all rules use: how long it took, and which processes worked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, Literal, TypeVar

from ibis.expr import types as ir

from iostrata.analyse.attempts import most_at_once
from iostrata.analyse.engine import Engine, OfRoles
from iostrata.analyse.tables import EVENTS, PROCESSES, SUMS
from iostrata.records import EpochNs, Ns, Record, Share
from iostrata.replay.alternative import Alternative
from iostrata.replay.fitted import Replays
from iostrata.schema.roles import HBASE_SERVERS, SERVERS
from iostrata.store.configuration import of_command
from iostrata.store.facts import CountedFile
from iostrata.store.runs import Run

_R = TypeVar("_R", bound=Record)
TASKS = ("map", "reduce", "task", "rank")
# What a run is, for advice names the settings of that.
Kind = Literal["mapreduce", "spark", "hbase", "program"]


@dataclass(frozen=True)
class Workforce:
    """The roles of the processes that do the run's work: those of its tasks, else those of all
    programs that are no servers, else HBase's servers.
    """

    roles: tuple[str, ...]

    def rows(self, rows: ir.Table = SUMS) -> ir.Table:
        """Rows of these processes alone."""
        return rows.filter(rows.role.isin(self.roles))


@dataclass(frozen=True)
class Query(Generic[_R]):
    """One expression over a run, made for a workforce; its rows are records of a type. The registry
    of rules gives it the `name` of its rule; one without a name is compiled when it is asked.
    """

    expression: Callable[[Workforce], ir.Table]
    row: type[_R]
    name: str = field(default="", compare=False)


class Worker(Record, frozen=True):
    """A process that does the run's work; it ends with the run while that goes on."""

    role: str
    job: str
    task: str
    start: EpochNs
    end: EpochNs
    is_jvm: bool = True

    @property
    def dur(self) -> int:
        return max(0, self.end - self.start)


class _EventTimes(Record, frozen=True):
    first: EpochNs | None
    last: EpochNs | None


class _TracedProcess(Record, frozen=True):
    role: str
    job: str
    task: str
    start: EpochNs | None
    end: EpochNs | None
    is_jvm: bool


class _RoleTime(Record, frozen=True):
    role: str
    time: Ns


class _Role(Record, frozen=True):
    role: str


def _traced_processes() -> ir.Table:
    rows = PROCESSES.filter(PROCESSES.traced, PROCESSES.role.notnull())
    job, task = rows.job.fill_null(""), rows.task.fill_null("")
    return rows.select(
        role="role",
        job=job,
        task=task,
        start=rows.start.nullif(0),
        end=rows.end.nullif(0),
        is_jvm=rows.jvm.fill_null("") != "",
    )


def _event_times() -> ir.Table:
    ends = EVENTS.start + EVENTS.dur.fill_null(0)
    return EVENTS.agg(first=EVENTS.start.min(), last=ends.max())


def _time_in_tasks() -> ir.Table:
    """Of the operation `task.run`, per role."""
    rows = SUMS.filter(SUMS.layer == "task", SUMS["op"] == "run", SUMS.role.notnull())
    return rows.group_by("role").agg(time=rows.timed_dur.sum().fill_null(0).cast("int64"))


def _roles_of_hbase() -> ir.Table:
    """Those of HBase's tools, and of processes that call HBase."""
    tools = PROCESSES.filter(PROCESSES.main.startswith("org.apache.hadoop.hbase."))
    both = tools.select("role").union(SUMS.filter(SUMS.layer == "hbase").select("role"))
    return both.filter(both.role.notnull()).distinct()


class RunFacts:
    """Facts of one run, each asked once."""

    def __init__(self, engine: Engine, run: Run, replays: Replays | None = None) -> None:
        self.engine = engine
        self.run = run
        self._replays = replays

    def replayed(self, changes: Sequence[Alternative]) -> tuple[Share, Share] | None:
        """What changes save of the run's time, least and most, by replays of it; None where nothing
        can be replayed.
        """
        return self._replays.gain(changes) if self._replays and changes else None

    def answer(self, query: Query[_R]) -> list[_R]:
        """The rows of a query over the run."""
        return self.engine.records(self._of_workers(query), query.row)

    def sql(self, query: Query[_R]) -> str:
        """A query in the words of the engine."""
        return self.engine.sql(self._of_workers(query))

    def _of_workers(self, query: Query[_R]) -> OfRoles:
        roles = self.workforce.roles
        return OfRoles(query.name, lambda of: _expression(query, Workforce(of)), roles)

    @cached_property
    def workforce(self) -> Workforce:
        roles = {process.role for process in self._processes}
        tasks = tuple(role for role in TASKS if role in roles)
        programs = tuple(sorted(roles - {*SERVERS}))
        of_hbase = tuple(role for role in HBASE_SERVERS if role in roles)
        return Workforce(tasks or programs or of_hbase)

    @cached_property
    def _processes(self) -> list[Worker]:
        end = self.begin + self.wall
        found = [
            Worker(row.role, row.job, row.task, row.start or self.begin, row.end or end, row.is_jvm)
            for row in self.engine.records(_traced_processes, _TracedProcess)
        ]
        return sorted(found, key=lambda process: (process.start, process.task))

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
        (span,) = self.engine.records(_event_times, _EventTimes)
        return span.first or 0, span.last or 0

    @cached_property
    def workers(self) -> list[Worker]:
        """Those that do the run's work, in order of start."""
        return [process for process in self._processes if process.role in self.workforce.roles]

    def workers_of(self, job: str) -> list[Worker]:
        """Those of one job, in order of start."""
        return [worker for worker in self.workers if worker.job == job]

    def configuration(self, key: str, *jobs: str) -> str | None:
        """What a setting of store.configuration was for these jobs, or for all of the run: by their
        histories, else by the command. None: nobody knows, or they differ.
        """
        known = self._configuration
        asked = [job for job in jobs if job] or [*known] or [""]
        given = {known.get(job, self._of_command).get(key) for job in asked}
        return given.pop() if len(given) == 1 else None

    @cached_property
    def _configuration(self) -> dict[str, dict[str, str]]:
        return self.run.cluster.configuration

    @cached_property
    def _of_command(self) -> dict[str, str]:
        return of_command(self.run.command)

    @property
    def is_imported(self) -> bool:
        """Whether another tool traced it: settings of Hadoop and classes of Java are no advice."""
        return self.run.source is not None

    @cached_property
    def is_native(self) -> bool:
        """Whether none of those that do its work is a JVM, as far as is known."""
        return self.is_imported or not any(worker.is_jvm for worker in self.workers)

    @property
    def counted(self) -> dict[str, CountedFile]:
        """Files by name of which another tool counted more than events say."""
        return {file.target: file for file in self.run.source.counted} if self.run.source else {}

    @cached_property
    def kind(self) -> Kind:
        """Whose settings change how it runs."""
        roles = set(self.workforce.roles)
        if roles & {"map", "reduce"}:
            return "mapreduce"
        if roles & {"driver", "executor"}:
            return "spark"
        return "hbase" if roles & {*HBASE_SERVERS} or self._uses_hbase else "program"

    @property
    def _uses_hbase(self) -> bool:
        """Whether a worker is one of HBase's tools, or calls HBase."""
        roles = self.engine.records(_roles_of_hbase, _Role)
        return any(row.role in self.workforce.roles for row in roles)

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
        return most_at_once((worker.start, worker.end) for worker in self.workers)

    def without_others(self, job: str, begin: EpochNs, end: EpochNs) -> int:
        """ns of the time from `begin` to `end` in which no worker of another job ran."""
        alone, until = max(0, end - begin), begin
        for worker in self.workers:
            if worker.job != job:
                beside = min(worker.end, end) - max(worker.start, until)
                alone, until = alone - max(0, beside), max(until, worker.end)
        return alone

    def share(self, ns: float) -> float:
        """The part of the run's wall time that `ns` of workers' time stand for."""
        return min(1.0, max(0.0, ns / self.worked)) * self.coverage

    def lost(self, share: float) -> float:
        """ns of workers' time that such a part of the run's wall time stands for: the reverse of
        `share`. Many workers that lose a blink each lose much.
        """
        return share / self.coverage * self.worked if self.coverage else 0.0

    def share_of_wall(self, ns: float) -> float:
        """The part of the run's wall time that `ns` of it are."""
        return min(1.0, max(0.0, ns / self.wall))

    @cached_property
    def start_up(self) -> int:
        """ns that a task takes to start and to end, on average: its process without `task.run`."""
        ran = self.engine.records(_time_in_tasks, _RoleTime)
        time = sum(row.time for row in ran if row.role in self.workforce.roles)
        return max(0, self.worked - time) // max(1, len(self.workers))


@cache  # to build an expression takes a while
def _expression(query: Query[Any], workforce: Workforce) -> ir.Table:
    return query.expression(workforce)
