"""The way back between the processes of a run, always to what ended last: windows of time.

On YARN a client of MapReduce waits for its job, the job for the attempt that ended last, a reduce
for the map whose output it took last, an attempt for its container and that for the attempt which
ended last before. A driver of Spark waits for the task that ended last, and that began when the
driver had seen another one end; the first one waits for the driver, that for its executors, and
these for their containers. A client without a job goes back to the client before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

import msgspec

from iostrata.records import EpochNs, Ns, Record

ALLOCATE = "allocate_container"
START = "start_container"
BETWEEN = "outside"


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


class PathTask(Record, frozen=True):
    """An attempt of a task of Spark: a call in a thread of an executor, or of a local driver."""

    proc: int
    host: str
    span: int
    job: str
    stage: str
    task: str
    start: EpochNs
    end: EpochNs

    def shifted(self, offset: Ns) -> PathTask:
        """On a clock that is so much ahead."""
        return msgspec.structs.replace(self, start=self.start + offset, end=self.end + offset)


class Application(Record, frozen=True):
    """An application of Spark: its tasks, in order of their end.

    `connected`: when its driver's calls began to be for it: executors had registered then, or the
    driver no longer waited for them.
    """

    job: str
    connected: EpochNs
    tasks: list[PathTask]

    def last(self, until: EpochNs) -> PathTask | None:
        """The task that ended last until then."""
        place = bisect_right(self.tasks, until, key=lambda task: task.end)
        return self.tasks[place - 1] if place else None


class Marks(Record, frozen=True):
    """What the way between processes needs to know of calls.

    By process. `submits`: when applications had been submitted; `ready`: when a job was set up, so
    that it could ask for containers; `starts`: when the start of a container was asked for;
    `outputs`: when a reduce had taken a map's output, and the map's attempt; `shuffles`: when a
    reduce began to wait for outputs; `drives`: the applications of Spark that it is the driver of.
    """

    submits: dict[int | None, list[int]]
    ready: dict[int | None, list[int]]
    starts: dict[int | None, list[int]]
    outputs: dict[int | None, list[tuple[int, str]]]
    shuffles: dict[int | None, int]
    drives: dict[int, list[Application]]


class Worked(Record, frozen=True):
    """The binary looks into the calls of the process; `span`: only into this one, 0 into all.

    `driver`: not into tasks, and not into reads of pipes: whoever controls a driver is at the other
    end for as long as it lives.
    """

    start: EpochNs
    end: EpochNs
    proc: int
    span: int = 0
    driver: bool = False


class Known(Record, frozen=True):
    """What was waited for is known."""

    start: EpochNs
    end: EpochNs
    layer: str
    op: str
    role: str
    host: str
    waiting: bool


class Window(Record, frozen=True):
    """A stretch of time of the path, and whose it is: the job, its stage, and the task, '' none."""

    of: Worked | Known
    job: str
    stage: str
    task: str


class Way:
    """The windows of a path, the last first. `until`: what lies between the begin and here has no
    window yet.
    """

    def __init__(self, processes: Iterable[PathProcess], marks: Marks) -> None:
        self.windows: list[Window] = []
        self.marks = marks
        self.processes = {process.proc: process for process in processes}
        all_of = list(self.processes.values())
        self.attempts = [p for p in all_of if p.task]
        executors = [p for p in all_of if p.role == "executor" and not p.task]
        self.masters = [p for p in all_of if p.job and not p.task and p.role != "executor"]
        # without a client only parts of the cluster were traced
        clients = [p for p in all_of if not p.job]
        self.clients = clients or self.masters or self.attempts or executors
        self.begin = min((p.start for p in self.clients), default=0)
        self.until = max((p.end for p in self.clients), default=0)
        self.visited: set[int] = set()

    def go(self) -> list[Window]:
        """The windows in order of time; they fill the wall time."""
        process = max(self.clients, key=lambda p: p.end, default=None)
        while process is not None and self.until > self.begin:
            self.visited.add(process.proc)
            if process.task:
                process = self._attempt(process)
            elif process.job and process.role != "executor":
                process = self._master(process)
            else:
                process = self._client(process)
        self._wait(BETWEEN, self.begin, None, waiting=False)
        return self.windows[::-1]

    def _client(self, client: PathProcess) -> PathProcess | None:
        """A client waits for the job that was done last; before it began there was another."""
        driven = self._driven(client)
        while driven is not None:
            master = self._driver(client, driven)
            if master is not None:
                return master
            driven = self._driven(client)
        own = self.marks.drives.get(client.proc, [])
        jobs = [m for m in self.masters if client.start <= m.start < self.until]
        master = self._latest([m for m in jobs if not any(m.job == o.job for o in own)], self._done)
        if master is not None:
            self._work(client, self._done(master))
            return master
        self._work(client, client.start, own[0].job if own else "", driver=bool(own))
        before = self._latest([c for c in self.clients if c.start < self.until], lambda c: c.end)
        if before is not None:
            self._wait(BETWEEN, before.end, None, waiting=False)
        return before

    def _driven(self, driver: PathProcess) -> Application | None:
        """Of the applications that the process drives, the one whose task ended last until now."""
        if self.until <= self.begin:
            return None
        ends = {
            task.end: one
            for one in self.marks.drives.get(driver.proc, [])
            if (task := one.last(self.until)) is not None
        }
        return ends[max(ends)] if ends else None

    def _done(self, master: PathProcess) -> int:
        """When the last attempt of the job had ended: its master lives on for a while."""
        ends = [a.done for a in self.attempts if a.job == master.job]
        return max(ends, default=master.end)

    def _driver(self, driver: PathProcess, driven: Application) -> PathProcess | None:
        """A driver waits for the task that ended last, and before the first one for an executor;
        the way goes on with the master that had this one started, if there is one.
        """
        first: PathTask | None = None
        while self.until > self.begin and (task := driven.last(self.until)) is not None:
            self._work(driver, task.end, driven.job, driver=True)
            self._task(task)
            first = task
            before = driven.last(self.until)
            self._executor(task, driver, max(before.end if before else 0, driven.connected))
        if first is None or first.proc == driver.proc:
            return None
        self._work(driver, driven.connected, driven.job, driver=True)
        executor = self.processes.get(first.proc)
        master = next((m for m in self.masters if m.job == driven.job), None)
        if executor is None or master is None or master.proc == driver.proc:
            return None
        self._executor(first, driver, master.start)
        return master

    def _task(self, task: PathTask) -> None:
        begin = self._begin(task.start)
        if begin < self.until:
            window = Worked(begin, self.until, task.proc, task.span)
            self.windows.append(Window(window, task.job, task.stage, task.task))
        self.until = begin

    def _executor(self, task: PathTask, driver: PathProcess, since: EpochNs) -> None:
        """Before a task its executor began, if it did so after `since`."""
        executor = self.processes.get(task.proc)
        if executor is None or executor is driver or not since < executor.start < self.until:
            return
        self._work(executor, executor.start, task.job)
        master = next((m for m in self.masters if m.job == task.job), None)
        if master is not None:
            asked = self._last(self.marks.starts.get(master.proc, []))
            self._wait(START, max(asked, since), executor)

    def _master(self, master: PathProcess) -> PathProcess | None:
        """A master waits for the attempt that ended last; it began when a client had submitted."""
        driven = self._driven(master)
        if driven is not None:
            self._driver(master, driven)
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

    def _work(
        self, process: PathProcess, start: int, job: str = "", *, driver: bool = False
    ) -> None:
        """`job`: the application of Spark that the process works for."""
        begin = self._begin(start)
        if begin < self.until:
            window = Worked(begin, self.until, process.proc, driver=driver)
            stage = "driver" if driver else process.role
            self.windows.append(Window(window, job or process.job, stage, process.task))
        self.until = begin

    def _wait(self, op: str, start: int, of: PathProcess | None, *, waiting: bool = True) -> None:
        begin = self._begin(start)
        if begin < self.until:
            role, host, job = (of.role, of.host, of.job) if of else ("", "", "")
            known = Known(begin, self.until, "task", op, role, host, waiting)
            self.windows.append(Window(known, job, op, ""))
        self.until = begin

    def _begin(self, start: int) -> int:
        return max(self.begin, min(start, self.until))
