"""The critical path of a run: from the end of the job back, always to what ended last before.

Between processes the way is that of `analyse.calltree.way`. Within a process the native binary goes
back through its calls, wherever they ran.
"""

from __future__ import annotations

import tempfile

import msgspec

from iostrata.analyse.calltree.native import CallTrees, ask, call_trees, of_run
from iostrata.analyse.calltree.path_facts import path_marks, path_processes
from iostrata.analyse.calltree.way import Known, Way, Window, Worked
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.threads import ThreadWork, thread_works
from iostrata.analyse.waiting import WAITING_OPERATIONS, LongPipeRead, long_pipe_reads
from iostrata.progress import Progress, silent
from iostrata.records import Count, EpochNs, Ns, Record
from iostrata.store.opened import OpenedRun


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

    `idle`: of the time of a task or a process, when no call was traced and it had no CPU: a task of
    Spark its thread, all others their process. It slept, or waited for a lock, for a child, or for
    I/O that is not traced.
    """

    layer: str
    op: str
    role: str
    host: str
    waiting: bool
    time: Ns
    times: Count
    idle: Ns


class PathStage(Record, frozen=True):
    """The time that the path spent in a stage of a job, and in how many of its tasks' attempts.

    `stage`: of Spark (`stage 3.0`: the first attempt of stage 3) or the role of the attempts of
    MapReduce; outside of tasks `driver`, `client`, `appmaster` or `executor`, or what was waited
    for: `allocate_container`, `start_container`. `outside`: no traced process was there.
    Waiting and idle are part of the time (`PathFunction`).
    """

    job: str
    stage: str
    tasks: Count
    time: Ns
    waiting: Ns
    idle: Ns


class CriticalPath(Record, frozen=True):
    """The chain of calls that the end of the job waited for.

    Parts, about 400 at most, one after the other, fill the wall time of the job, and so do the
    functions and the stages, the longest first.
    """

    wall: Ns
    parts: list[PathPart]
    by_function: list[PathFunction]
    by_stage: list[PathStage]


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


class _WindowTime(Record, frozen=True):
    waiting: Ns
    idle: Ns


class _Walked(Record, frozen=True):
    """What it answers; a time for each window."""

    wall: Ns
    parts: list[PathPart]
    by_function: list[PathFunction]
    windows: list[_WindowTime]


class _Question(Record, frozen=True):
    """What `iostrata-native calltree --critical` is asked."""

    windows: list[Worked | Known]
    waiting: tuple[str, ...]
    waiting_calls: list[tuple[int, int]]
    offsets: dict[str, int]
    worked: dict[int, int]
    threads: list[ThreadWork]


def critical_path(
    opened: OpenedRun, trees: CallTrees | None = None, progress: Progress = silent
) -> CriticalPath:
    """The critical path of a run, by the clock of the reference host; raises UserError.

    `trees` are those of the run, if they are there; the step is "critical path".
    """
    progress("critical path")
    engine = DuckDb(opened)
    offsets = {clock.host: clock.offset for clock in (trees or call_trees(opened)).clocks}
    processes = path_processes(engine, offsets)
    windows = Way(processes, path_marks(engine, offsets)).go()
    pipes = engine.records(long_pipe_reads, LongPipeRead)
    calls = [(call.proc, call.span) for call in pipes]
    worked = {one.proc: one.worked for one in processes if one.worked is not None}
    within = [window.of for window in windows]
    threads = engine.records(thread_works, ThreadWork)
    question = _Question(within, WAITING_OPERATIONS, calls, offsets, worked, threads)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(msgspec.json.encode(question))
        file.flush()
        arguments = [*of_run(opened), f"--critical={file.name}"]
        walked = ask(_Walked, arguments, "critical path", progress)
    stages = _by_stage(windows, walked.windows)
    return CriticalPath(walked.wall, walked.parts, walked.by_function, stages)


def _by_stage(windows: list[Window], times: list[_WindowTime]) -> list[PathStage]:
    sums: dict[tuple[str, str], list[int]] = {}
    tasks: dict[tuple[str, str], set[str]] = {}
    for window, time in zip(windows, times, strict=True):
        key = (window.job, window.stage)
        of = sums.setdefault(key, [0, 0, 0])
        whole = window.of.end - window.of.start
        for place, part in enumerate((whole, time.waiting, time.idle)):
            of[place] += part
        tasks.setdefault(key, set()).update({window.task} - {""})
    stages = [PathStage(*key, len(tasks[key]), *of) for key, of in sums.items()]
    return sorted(stages, key=lambda stage: (-stage.time, stage.job, stage.stage))
