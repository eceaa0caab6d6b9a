"""The critical path of a run: from the end of the job back, always to what ended last before.

Between processes the way is that of MapReduce on YARN: a client waits for its job, the job for the
attempt that ended last, a reduce for the map whose output it took last, an attempt for its
container and that for the attempt which ended last before. A client without a job goes back to the
client before. Within a process the native binary goes back through its calls, wherever they ran.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import ibis
import msgspec
from ibis.expr import types as ir

from iostrata.analyse.calltree.native import CallTrees, ask, call_trees, of_run
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.tables import CALLS, EVENTS, PROCESSES, program_cpu
from iostrata.analyse.waiting import WAITING_OPERATIONS, LongPipeRead, long_pipe_reads
from iostrata.progress import Progress, silent
from iostrata.records import Count, EpochNs, Ns, Record
from iostrata.schema.roles import SERVERS
from iostrata.store.opened import OpenedRun

ALLOCATE = "allocate_container"
START = "start_container"
BETWEEN = "outside"
_REQUESTS = r"\.(submitApplication|startContainers|registerAppl\w+)$"


class PathPart(Record, frozen=True):
    """A stretch of the critical path."""

    layer: str
    op: str
    role: str
    host: str
    start: EpochNs
    end: EpochNs
    waiting: bool

    @property
    def name(self) -> str:
        """`layer.op`."""
        return f"{self.layer}.{self.op}"


class PathFunction(Record, frozen=True):
    """The time that the path spent in a function, and in how many stretches.

    `idle`: of the time of a task or a process, when no call was traced and the process had no CPU.
    It slept, or waited for a lock, for a child, or for I/O that is not traced.
    """

    layer: str
    op: str
    role: str
    host: str
    waiting: bool
    time: Ns
    times: Count
    idle: Ns


class CriticalPath(Record, frozen=True):
    """The chain of calls that the end of the job waited for.

    Parts, about 400 at most, one after the other, fill the wall time of the job, and so do the
    functions, the longest first.
    """

    wall: Ns
    parts: list[PathPart]
    by_function: list[PathFunction]


class PathTime(Record, frozen=True):
    """The time that the path spent in an operation, over all roles and hosts."""

    layer: str
    op: str
    working: Ns
    waiting: Ns
    idle: Ns


def by_operation(path: CriticalPath) -> list[PathTime]:
    """The longest first."""
    times: dict[tuple[str, str], list[int]] = {}
    for row in path.by_function:
        sums = times.setdefault((row.layer, row.op), [0, 0, 0])
        sums[1 if row.waiting else 0] += row.time - row.idle
        sums[2] += row.idle
    found = [PathTime(*names, *each) for names, each in times.items()]
    return sorted(found, key=lambda row: -row.working - row.waiting - row.idle)


class PathProcess(Record, frozen=True):
    """One traced process that is no daemon.

    `done`: when others could go on: an attempt's process takes a while to end after its task.
    `worked`: CPU time without that of compilers and garbage collectors, and time in which threads
    waited for a CPU; null where it is not known.
    """

    proc: int
    role: str
    host: str
    job: str
    task: str
    start: EpochNs
    end: EpochNs
    done: EpochNs
    worked: Ns | None

    def shifted(self, offset: Ns) -> PathProcess:
        """On a clock that is so much ahead."""
        times = {name: getattr(self, name) + offset for name in ("start", "end", "done")}
        return msgspec.structs.replace(self, **times)


class _Mark(Record, frozen=True):
    proc: int | None
    host: str | None
    op: str
    target: str
    start: EpochNs
    dur: Ns


class Marks(Record, frozen=True):
    """What the way between processes needs to know of calls.

    By process. `submits`: when applications had been submitted; `ready`: when a job was set up, so
    that it could ask for containers; `starts`: when the start of a container was asked for;
    `outputs`: when a reduce had taken a map's output, and the map's attempt; `shuffles`: when a
    reduce began to wait for outputs.
    """

    submits: dict[int | None, list[int]]
    ready: dict[int | None, list[int]]
    starts: dict[int | None, list[int]]
    outputs: dict[int | None, list[tuple[int, str]]]
    shuffles: dict[int | None, int]


class _Worked(Record, frozen=True):
    """The binary looks into the calls of the process."""

    start: EpochNs
    end: EpochNs
    proc: int


class _Known(Record, frozen=True):
    start: EpochNs
    end: EpochNs
    layer: str
    op: str
    role: str
    host: str
    waiting: bool


_Window = _Worked | _Known


class _Question(Record, frozen=True):
    """What `iostrata-native calltree --critical` is asked."""

    windows: list[_Window]
    waiting: tuple[str, ...]
    waiting_calls: list[tuple[int, int]]
    offsets: dict[str, int]
    worked: dict[int, int]


def critical_path(
    opened: OpenedRun, trees: CallTrees | None = None, progress: Progress = silent
) -> CriticalPath:
    """The critical path of a run, by the clock of the reference host; raises UserError.

    `trees` are those of the run, if they are there; the step is "critical path".
    """
    progress("critical path")
    engine = DuckDb(opened)
    offsets = {clock.host: clock.offset for clock in (trees or call_trees(opened)).clocks}
    processes = [
        process.shifted(offsets.get(process.host, 0))
        for process in engine.records(_processes, PathProcess)
    ]
    windows = _Way(processes, _marks(engine, offsets)).go()
    pipes = engine.records(long_pipe_reads, LongPipeRead)
    calls = [(call.proc, call.span) for call in pipes]
    worked = {one.proc: one.worked for one in processes if one.worked is not None}
    question = _Question(windows, WAITING_OPERATIONS, calls, offsets, worked)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(msgspec.json.encode(question))
        file.flush()
        arguments = [*of_run(opened), f"--critical={file.name}"]
        return ask(CriticalPath, arguments, "critical path", progress)


def _processes() -> ir.Table:
    """Processes in order of their start.

    One that was killed, or runs on, ended with its last event as far as is known.
    """
    is_task = (EVENTS.kind == "call") & (EVENTS.layer == "task") & (EVENTS["op"] == "run")
    last = EVENTS.group_by("proc").agg(
        last=(EVENTS.start + EVENTS.dur.fill_null(0)).max(),
        done=(EVENTS.start + EVENTS.dur).max(where=is_task),
    )
    texts = {name: PROCESSES[name].fill_null("") for name in ("role", "host", "job", "task")}
    rows = PROCESSES.filter(PROCESSES.traced, PROCESSES.proc.notnull(), PROCESSES.start.notnull())
    worked = program_cpu(rows) + rows.queued
    rows = rows.select("proc", "start", ended=PROCESSES.end, worked=worked, **texts)
    rows = rows.filter(rows.role.notin(SERVERS)).join(last, "proc", how="left")
    rows = rows.mutate(end=ibis.coalesce(rows.ended, rows.last))
    rows = rows.mutate(done=ibis.least(ibis.coalesce(rows.done, rows.end), rows.end))
    rows = rows.filter(rows.end > rows.start)
    return rows.select(*PathProcess.__struct_fields__).order_by("start", "proc")


def _marked() -> ir.Table:
    """Calls that say how processes waited for each other, in order of their start."""
    target = CALLS.target.fill_null("")
    of_task = (CALLS.layer == "task") & CALLS["op"].isin(["accept", "shuffle", "setup_job"])
    is_request = (CALLS.layer == "rpc") & (CALLS["op"] == "call") & target.re_search(_REQUESTS)
    rows = CALLS.filter(of_task | is_request)
    return rows.select(
        "proc",
        "host",
        "op",
        "start",
        target=rows.target.fill_null(""),
        dur=rows.dur.fill_null(0),
    ).order_by("start")


def _marks(engine: DuckDb, offsets: dict[str, int]) -> Marks:
    marks = Marks({}, {}, {}, {}, {})
    for row in engine.records(_marked, _Mark):
        start = row.start + offsets.get(row.host or "", 0)
        end = start + row.dur
        if row.op == "accept":
            marks.outputs.setdefault(row.proc, []).append((end, row.target))
        elif row.op == "shuffle":
            marks.shuffles[row.proc] = start
        elif row.target.endswith(".submitApplication"):
            marks.submits.setdefault(row.proc, []).append(end)
        elif row.target.endswith(".startContainers"):
            marks.starts.setdefault(row.proc, []).append(start)
        else:
            marks.ready.setdefault(row.proc, []).append(end)
    return marks


class _Way:
    """The way back between processes: `windows` of time, the last first, each of one process or of
    known waiting. `until`: what lies between the begin and here has no window yet.
    """

    def __init__(self, processes: list[PathProcess], marks: Marks) -> None:
        self.windows: list[_Window] = []
        self.marks = marks
        self.masters = [p for p in processes if p.job and not p.task]
        self.attempts = [p for p in processes if p.task]
        # without a client only parts of the cluster were traced
        clients = [p for p in processes if not p.job]
        self.clients = clients or self.masters or self.attempts
        self.begin = min((p.start for p in self.clients), default=0)
        self.until = max((p.end for p in self.clients), default=0)
        self.visited: set[int] = set()

    def go(self) -> list[_Window]:
        """The windows in order of time; they fill the wall time."""
        process = max(self.clients, key=lambda p: p.end, default=None)
        while process is not None and self.until > self.begin:
            self.visited.add(process.proc)
            if process.task:
                process = self._attempt(process)
            elif process.job:
                process = self._master(process)
            else:
                process = self._client(process)
        self._wait(BETWEEN, self.begin, None, waiting=False)
        return self.windows[::-1]

    def _client(self, client: PathProcess) -> PathProcess | None:
        """A client waits for the job that was done last; before it began there was another."""
        jobs = [m for m in self.masters if client.start <= m.start < self.until]
        master = self._latest(jobs, self._done)
        if master is not None:
            self._work(client, self._done(master))
            return master
        self._work(client, client.start)
        before = self._latest([c for c in self.clients if c.start < self.until], lambda c: c.end)
        if before is not None:
            self._wait(BETWEEN, before.end, None, waiting=False)
        return before

    def _done(self, master: PathProcess) -> int:
        """When the last attempt of the job had ended: its master lives on for a while."""
        ends = [a.done for a in self.attempts if a.job == master.job]
        return max(ends, default=master.end)

    def _master(self, master: PathProcess) -> PathProcess | None:
        """A master waits for the attempt that ended last; it began when a client had submitted."""
        attempt = self._ended(master.job)
        if attempt is not None:
            self._work(master, attempt.done)
            return attempt
        self._work(master, master.start)
        client = next((c for c in self.clients if c.start <= self.until < c.end), None)
        if client is not None:
            submits = self.marks.submits.get(client.proc, [])
            self._wait(START, self._last(submits), master)
        return client

    def _attempt(self, attempt: PathProcess) -> PathProcess | None:
        """A reduce waits for the map whose output came last; an attempt for its container."""
        outputs = [one for one in self.marks.outputs.get(attempt.proc, []) if one[0] <= self.until]
        last = max(outputs, default=(0, ""))[1]
        began = self.marks.shuffles.get(attempt.proc, attempt.start)
        waited = [a for a in self.attempts if a.task == last and began < a.done <= self.until]
        source = self._latest(waited, lambda a: a.done)
        if source is not None:
            self._work(attempt, source.done)
            return source
        self._work(attempt, attempt.start)
        master = next((m for m in self.masters if m.job == attempt.job), None)
        proc = master.proc if master else 0
        self._wait(START, self._last(self.marks.starts.get(proc, [])), attempt)
        before = self._ended(attempt.job)
        ready = self._last(self.marks.ready.get(proc, []))
        self._wait(ALLOCATE, before.done if before else ready, attempt)
        return before or master

    def _last(self, moments: list[int]) -> int:
        """The last one until now, else now."""
        return max((moment for moment in moments if moment <= self.until), default=self.until)

    def _ended(self, job: str) -> PathProcess | None:
        ended = [a for a in self.attempts if a.job == job and a.done <= self.until]
        return self._latest(ended, lambda a: a.done)

    def _latest(
        self, among: list[PathProcess], when: Callable[[PathProcess], int]
    ) -> PathProcess | None:
        return max((p for p in among if p.proc not in self.visited), key=when, default=None)

    def _work(self, process: PathProcess, start: int) -> None:
        begin = self._begin(start)
        if begin < self.until:
            self.windows.append(_Worked(begin, self.until, process.proc))
        self.until = begin

    def _wait(self, op: str, start: int, of: PathProcess | None, *, waiting: bool = True) -> None:
        begin = self._begin(start)
        if begin < self.until:
            role, host = (of.role, of.host) if of else ("", "")
            known = _Known(begin, self.until, "task", op, role, host, waiting)
            self.windows.append(known)
        self.until = begin

    def _begin(self, start: int) -> int:
        return max(self.begin, min(start, self.until))
