"""The critical path of a run: from the end of the job back, always to what ended last before.

Between processes the way is that of MapReduce on YARN: a client waits for its job, the job for the
attempt that ended last, a reduce for the map whose output it took last, an attempt for its
container and that for the attempt which ended last before. A client without a job goes back to the
client before. Within a process the native binary goes back through its calls, wherever they ran.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from iostrata.analyse.sample import Row
from iostrata.progress import Progress, silent
from iostrata.schema.roles import SERVERS
from iostrata.show.trees import document, native
from iostrata.store.opened import OpenedRun

# Operations whose own time is waiting for a peer, a queue or a lock: it ends when another thread,
# process or host has done something.
WAITING = (
    "rpc.call",
    "hdfs.connect",
    "hdfs.stream",
    "hdfs.wait_acks",
    "hdfs.back_off",
    "hdfs.receive_packet",
    "hdfs.receive_acks",
    "java.receive",
    "java.accept",
    "task.shuffle",
    "task.connect",
    "task.receive",
    "task.wait",
    "namenode.read_lock",
    "namenode.write_lock",
    "datanode.ack",
    "datanode.respond",
)
ALLOCATE = "allocate_container"
START = "start_container"
BETWEEN = "outside"


@dataclass(frozen=True)
class Process:
    """One traced process that is no daemon; times in ns on the clock of the reference host.

    `done`: when others could go on: an attempt's process takes a while to end after its task.
    """

    proc: int
    role: str
    host: str
    job: str
    task: str
    start: int
    end: int
    done: int


@dataclass(frozen=True)
class Marks:
    """What the way between processes needs to know of calls.

    By process. `submits`: when applications had been submitted; `ready`: when a job was set up, so
    that it could ask for containers; `starts`: when the start of a container was asked for;
    `outputs`: when a reduce had taken a map's output, and the map's attempt; `shuffles`: when a
    reduce began to wait for outputs.
    """

    submits: dict[int, list[int]]
    ready: dict[int, list[int]]
    starts: dict[int, list[int]]
    outputs: dict[int, list[tuple[int, str]]]
    shuffles: dict[int, int]


def critical_document(
    opened: OpenedRun, trees: Row | None = None, progress: Progress = silent
) -> Row:
    """wall (ns), parts (name, layer, op, role, host, start, end, waiting; at most about 400, one
    after the other) and by_function (name, layer, op, role, host, waiting, time, times; longest
    first). The parts fill the wall time of the job, and so do the functions.

    `trees`: the run's `show.trees.document`, if it is there; the step is "critical path".
    """
    progress("critical path")
    clocks = (trees or document(opened))["clocks"]
    offsets = {clock["host"]: clock["offset"] for clock in clocks}
    processes = _processes(opened, offsets)
    windows = _Way(processes, _marks(opened, offsets)).go()
    calls = [(row["proc"], row["span"]) for row in opened.rows(_PIPES)]
    question = {
        "windows": windows, "waiting": WAITING, "waiting_calls": calls, "offsets": offsets,
    }  # fmt: skip
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(question, file)
        file.flush()
        found = native(opened, [f"--critical={Path(file.name)}"], "critical path", progress)
    for row in (*found["parts"], *found["by_function"]):
        row["name"] = f"{row['layer']}.{row['op']}"
    return found


def _processes(opened: OpenedRun, offsets: dict[str, int]) -> list[Process]:
    found = []
    for row in opened.rows(_PROCESSES, [list(SERVERS)]):
        process = Process(**row)
        off = offsets.get(process.host, 0)
        start, end, done = process.start + off, process.end + off, process.done + off
        found.append(replace(process, start=start, end=end, done=done))
    return found


def _marks(opened: OpenedRun, offsets: dict[str, int]) -> Marks:
    marks = Marks({}, {}, {}, {}, {})
    for row in opened.rows(_MARKS):
        start = row["start"] + offsets.get(row["host"], 0)
        proc, end = row["proc"], start + row["dur"]
        if row["op"] == "accept":
            marks.outputs.setdefault(proc, []).append((end, row["target"]))
        elif row["op"] == "shuffle":
            marks.shuffles[proc] = start
        elif row["target"].endswith(".submitApplication"):
            marks.submits.setdefault(proc, []).append(end)
        elif row["target"].endswith(".startContainers"):
            marks.starts.setdefault(proc, []).append(start)
        else:
            marks.ready.setdefault(proc, []).append(end)
    return marks


class _Way:
    """The way back between processes: `windows` of time, the last first, each of one process or of
    known waiting. `until`: what lies between the begin and here is still to be told.
    """

    def __init__(self, processes: list[Process], marks: Marks) -> None:
        self.windows: list[Row] = []
        self.marks = marks
        self.masters = [p for p in processes if p.job and not p.task]
        self.attempts = [p for p in processes if p.task]
        # without a client only parts of the cluster were traced
        clients = [p for p in processes if not p.job]
        self.clients = clients or self.masters or self.attempts
        self.begin = min((p.start for p in self.clients), default=0)
        self.until = max((p.end for p in self.clients), default=0)
        self.seen: set[int] = set()

    def go(self) -> list[Row]:
        """The windows in order of time; they fill the wall time."""
        process = max(self.clients, key=lambda p: p.end, default=None)
        while process is not None and self.until > self.begin:
            self.seen.add(process.proc)
            if process.task:
                process = self._attempt(process)
            elif process.job:
                process = self._master(process)
            else:
                process = self._client(process)
        self._wait(BETWEEN, self.begin, None, waiting=False)
        return self.windows[::-1]

    def _client(self, client: Process) -> Process | None:
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

    def _done(self, master: Process) -> int:
        """When the last attempt of the job had ended: its master lives on for a while."""
        ends = [a.done for a in self.attempts if a.job == master.job]
        return max(ends, default=master.end)

    def _master(self, master: Process) -> Process | None:
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

    def _attempt(self, attempt: Process) -> Process | None:
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

    def _ended(self, job: str) -> Process | None:
        ended = [a for a in self.attempts if a.job == job and a.done <= self.until]
        return self._latest(ended, lambda a: a.done)

    def _latest(self, among: list[Process], when: Callable[[Process], int]) -> Process | None:
        return max((p for p in among if p.proc not in self.seen), key=when, default=None)

    def _work(self, process: Process, start: int) -> None:
        self._add(start, {"proc": process.proc})

    def _wait(self, op: str, start: int, of: Process | None, *, waiting: bool = True) -> None:
        whose = {"role": of.role if of else "", "host": of.host if of else ""}
        self._add(start, {"layer": "task", "op": op, **whose, "waiting": waiting})

    def _add(self, start: int, of: Row) -> None:
        begin = max(self.begin, min(start, self.until))
        if begin < self.until:
            self.windows.append({"start": begin, "end": self.until, **of})
        self.until = begin


# A process that was killed, or runs on, ended with its last event as far as is known.
_PROCESSES = """
    WITH last AS (
        SELECT proc, max(start + coalesce(dur, 0)) AS "end",
            max(start + dur) FILTER (kind = 'call' AND layer = 'task' AND op = 'run') AS done
        FROM events GROUP BY proc),
    known AS (
        SELECT p.proc, coalesce(p.role, '') AS role, coalesce(p.host, '') AS host,
            coalesce(p.job, '') AS job, coalesce(p.task, '') AS task, p.start,
            coalesce(p."end", last."end")::BIGINT AS "end", last.done
        FROM processes p LEFT JOIN last ON last.proc = p.proc
        WHERE traced AND NOT list_contains(?, coalesce(p.role, '')) AND p.proc IS NOT NULL)
    SELECT * REPLACE (least(coalesce(done, "end"), "end") AS done) FROM known
    WHERE start IS NOT NULL AND "end" > start ORDER BY start, proc"""
_MARKS = """
    SELECT proc, host, op, start, coalesce(dur, 0) AS dur, coalesce(target, '') AS target
    FROM calls
    WHERE layer = 'task' AND op IN ('accept', 'shuffle', 'setup_job')
        OR layer = 'rpc' AND op = 'call'
            AND regexp_matches(target, '\\.(submitApplication|startContainers|registerAppl\\w+)$')
    ORDER BY start"""
# Who reads a pipe waits for the process at its other end. Those below a millisecond would be many,
# and make no path.
_PIPES = """
    SELECT proc, span FROM calls
    WHERE layer = 'java' AND op = 'read' AND category = 'pipe' AND dur >= 1000000
        AND proc IS NOT NULL AND span IS NOT NULL"""
