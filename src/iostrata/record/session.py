"""One recording from beginning to end."""

from __future__ import annotations

import os
import pwd
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iostrata.artifacts import agent_for, agent_jar, preload_library, stage_agent
from iostrata.errors import UserError
from iostrata.processes import start_ticks, waits_in
from iostrata.record import protocol
from iostrata.record.collector import (
    NODE_DIR,
    Collector,
    last_line,
    log_of,
    run_key,
    start_collector,
    stop_collector,
    sweep,
)
from iostrata.record.command import CommandEnd, Signals, check_startable, run_command
from iostrata.record.environment import agent_option, with_agent, with_preload
from iostrata.record.protocol import RunProgress
from iostrata.schema.detail import Detail, budget_text, sampling_text
from iostrata.schema.events import VERSION
from iostrata.store.coverage import ClusterAnswer, ReportedCoverage
from iostrata.store.writing import write_facts

GRACE = 10.0  # the collector's: how long processes of the run may go on after its end
START_TIMEOUT = 30.0  # a living collector is slow where others take all of the CPU
FINISH_TIMEOUT = GRACE + 30.0
FULL_TIMEOUT = 5.0  # after that it is looked whether the store is full
LEAST_ROOM = 64 << 10  # bytes
COULD_NOT_RECORD = 125


# Asks the cluster, for the jobs of a run that has ended, what should have been traced:
# datanodes: [{name, host, pid}] (pid may be null) or null, attempts: {job: [attempt]},
# configuration: {job: {setting: value}} as store.configuration keeps it,
# unasked: [whom nobody asked, and why]. Raises nothing.
Survey = Callable[[Sequence[str]], dict[str, Any]]
Show = Callable[[RunProgress], None]
# What is recorded where that is no command, with the environment that one would have: it ends when
# it has seen a signal, and calls the last argument about twenty times a second, if there is one.
Act = Callable[[Collector, Mapping[str, str], Signals, Callable[[], None] | None], CommandEnd]


@dataclass(frozen=True)
class RecordRequest:
    """What to record. `points` are rows of schema.users; `title` and `tags` as in store.runs.Run.
    With `act`, that is done in place of the command. With `native`, programs that are no JVM are
    recorded, too; with `devices`, requests of processes to block devices.

    `collector` is a live one to use; without it a private one is started.
    """

    command: list[str]
    store: Path
    run: str
    collector: Collector | None = None
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    expect: list[tuple[str, int]] = field(default_factory=list)
    points_off: list[int] = field(default_factory=list)
    detail: Detail = field(default_factory=Detail)
    points: list[dict[str, str]] = field(default_factory=list)
    survey: Survey | None = None
    title: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    act: Act | None = None
    native: bool = False
    devices: bool = False


@dataclass(frozen=True)
class Recorded:
    """What became of it. `state` as in store.runs.Run; `message` says what went wrong.

    `reported` is what the collector knows of the run's completeness, None where that is not all
    there is to know; `cluster` is what the cluster listed.

    `published` says that every event that was not counted as dropped or lost is in the store.
    """

    run: str
    store: Path
    code: int
    state: str
    progress: RunProgress
    duration: float
    published: bool
    message: str = ""
    reported: ReportedCoverage | None = None
    cluster: ClusterAnswer = field(default_factory=ClusterAnswer)


def new_run_name() -> str:
    """YYYYMMDD-HHMMSS-xxxx, local time."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"


def record(request: RecordRequest, show: Show | None) -> Recorded:
    """Records the command; raises UserError before it is started, never afterwards.

    `show` hears how far the run is, and what could not be written; None where nobody looks.
    """
    if (request.store / request.run).exists():
        raise UserError(f"run {request.run} exists already in {request.store}", "choose another")
    # before anything is started
    if request.act is None:
        check_startable(request.command, request.environment)
    agent_jar()
    with Signals() as signals:
        collector = request.collector or _private(request)
        try:
            key = run_key(collector, request.run)
            agent = stage_agent(collector.dir) if collector.started else agent_for(collector.dir)
            option = agent_option(agent, collector.dir, key)
            recorded = _Recording(request, collector, key, signals, show).run(option)
        finally:
            if collector.started:
                stop_collector(collector)
    if collector.started and recorded.published:
        shutil.rmtree(collector.store / ".spool" / request.run, ignore_errors=True)
    return recorded


def _private(request: RecordRequest) -> Collector:
    sweep()
    try:
        directory = NODE_DIR.with_name(
            f"iostrata-{os.getuid()}-{request.run}-{os.urandom(4).hex()}"
        )
        directory.mkdir()
        # JVMs of the command that run as another user must reach the agent, or they do not start
        directory.chmod(0o711)
    except OSError as error:
        raise UserError(f"{NODE_DIR.parent}: {error.strerror}", "iostrata doctor") from error
    try:
        return start_collector(directory, request.store, request.run, exit_when_idle=True)
    except UserError:
        shutil.rmtree(directory, ignore_errors=True)
        raise


@dataclass
class _Recording:
    request: RecordRequest
    collector: Collector
    key: str  # what the collector calls the run
    signals: Signals
    show: Show | None
    start: int = field(default_factory=time.time_ns)
    next_look: float = 0.0

    def run(self, option: str) -> Recorded:
        """Waits until every process records, runs the command, waits until all is published."""
        name = self.request.run
        self._begin()
        self._write_facts("recording")
        self._link_into_own_store()
        ended = self._act(option)
        end = time.time_ns()
        last, message = self._finish(ended)
        published = last is not None
        state = _state(ended, published)
        progress = last or protocol.read_progress(self.collector, self.key)
        message = message or ended.error or progress.message
        cluster = self.request.survey(progress.jobs) if self.request.survey else {}
        self._write_facts(state, end=end, exit=ended.code, message=message, cluster=cluster)
        seconds = (end - self.start) / 1e9
        return Recorded(
            name,
            self.request.store,
            ended.code,
            state,
            progress,
            seconds,
            published,
            message,
            self._told(last),
            ClusterAnswer.of(cluster),
        )

    def _act(self, option: str) -> CommandEnd:
        request, look = self.request, self._look if self.show else None
        environment = with_agent(request.environment, option)
        if request.native:
            directory = self.collector.dir
            library = preload_library(directory, self.collector.started)
            environment = with_preload(environment, library, directory, self.key)
        if request.act is not None:
            return request.act(self.collector, environment, self.signals, look)
        return run_command(request.command, environment, self.signals, look)

    def _begin(self) -> None:
        request, collector = self.request, self.collector
        protocol.announce(
            collector,
            self.key,
            request.command,
            request.expect,
            request.points_off,
            request.detail,
            request.points,
            devices=request.devices,
        )
        answer = protocol.wait_for(
            collector, self.key, ("recording",), START_TIMEOUT, self._check_asked
        )
        if answer is not None and not self.signals.received:
            return
        protocol.withdraw(collector, self.key)
        if self.signals.received:
            raise KeyboardInterrupt
        if not collector.alive:
            raise UserError(f"the collector of {collector.dir} ended", "iostrata doctor")
        raise UserError(
            f"the collector of {collector.dir} did not start run {request.run} within "
            f"{START_TIMEOUT:.0f} s: {self._why_not_begun()}",
            "iostrata doctor",
        )

    def _check_asked(self, progress: RunProgress) -> None:
        if progress.state or protocol.is_asked_for(self.collector, self.key):
            return
        if self.collector.alive:
            why = self._last_word() or "its log says why"
            raise UserError(f"the collector of {self.collector.dir} did not take the run: {why}")

    def _last_word(self) -> str:
        """The last line of the log of a collector of ours; empty for another one."""
        log = log_of(self.collector.store, self.request.run)
        return last_line(log) if self.collector.started else ""

    def _why_not_begun(self) -> str:
        """What there is to see of a collector that lives and does not answer."""
        progress, pid = protocol.read_progress(self.collector, self.key), self.collector.pid
        if progress.state or progress.message:
            return progress.message or f"it is {progress.state}"
        where = waits_in(pid)
        waits = f"waits in {where} of the kernel" if where else "does not wait for the kernel"
        said = self._last_word()
        return f"it says nothing of it, and {waits} (pid {pid})" + (said and f"; it said: {said}")

    def _say(self, progress: RunProgress) -> None:
        if self.show:
            self.show(progress)

    def _look(self) -> None:
        now = time.monotonic()
        if now >= self.next_look:
            self.next_look = now + 0.5
            self._say(protocol.read_progress(self.collector, self.key))

    def _finish(self, ended: CommandEnd) -> tuple[RunProgress | None, str]:
        """The last answer and a message; a second signal ends the waiting."""
        already, patience = len(self.signals.received), time.monotonic() + FULL_TIMEOUT

        def watch(progress: RunProgress) -> None:
            self._say(progress)
            if len(self.signals.received) > already:
                raise KeyboardInterrupt
            if time.monotonic() > patience and (full := self._full()):
                raise UserError(full)

        states = ("done", "stuck")
        try:
            self._end(ended.code)
            last = protocol.wait_for(self.collector, self.key, states, FINISH_TIMEOUT, watch)
        except UserError as error:
            return None, error.message
        except KeyboardInterrupt:
            return None, "interrupted while the last events were being published"
        if last is not None:
            return (None, last.message) if last.state == "stuck" else (last, "")
        if not self.collector.alive:
            return None, self._full() or "the collector ended before the run did"
        return None, f"not all was published within {FINISH_TIMEOUT:.0f} s"

    def _end(self, code: int) -> None:
        """Asks for the run's end; a collector that was stopped has published it already."""
        try:
            protocol.end(self.collector, self.key, code)
        except UserError:
            if protocol.read_progress(self.collector, self.key).state != "done":
                raise

    def _full(self) -> str:
        """A message where the collector has no room, even for a word about it."""
        store = self.collector.store
        space = os.statvfs(store)
        if space.f_bavail * space.f_frsize >= LEAST_ROOM:
            return ""
        return f"the store {store} is full, what was recorded is not in it: free some space"

    def _told(self, last: RunProgress | None) -> ReportedCoverage | None:
        """What the last answer says, if no other collector had a part in the run, and nobody asks
        how often points of the user's own were called.
        """
        if last is None or self.request.points:
            return None
        folder = self.collector.store / self.key / "processes"
        try:
            by_host = [path.name for path in folder.iterdir()]
        except OSError:
            return None
        return last.coverage if len(by_host) <= 1 else None

    def _write_facts(self, state: str, **more: Any) -> None:
        run_dir = self.collector.store / self.key
        facts = {
            "schema": VERSION,
            "run": self.request.run,
            "command": self.request.command,
            "title": self.request.title,
            "tags": self.request.tags,
            "start": self.start,
            "state": state,
            "host": os.uname().nodename,
            "user": _user(),
            "dir": os.getcwd(),  # noqa: PTH109 - as the shell gave it
            "agent": self.collector.version,
            "collector": str(self.collector.dir),
            "level": self.request.detail.level,
            "sampling": sampling_text(self.request.detail.sampling),
            "budget": budget_text(self.request.detail.budget),
            "points": _named(self.request.points),
            "recorder_pid": os.getpid(),
            "recorder_start": start_ticks(os.getpid()),
            **more,
        }
        try:
            write_facts(run_dir, facts)
        except OSError as error:
            self._say(RunProgress(message=f"{run_dir}/run.json: {error.strerror}"))

    def _link_into_own_store(self) -> None:
        """A run in the node's store, which others may not list, is found through our own store."""
        own = self.request.store
        if own.resolve() == self.collector.store.resolve():
            return
        try:
            own.mkdir(parents=True, exist_ok=True, mode=0o700)
            (own / self.request.run).symlink_to(self.collector.store / self.key)
        except OSError as error:
            self._say(RunProgress(message=f"{own}: {error.strerror}"))


def _named(points: list[dict[str, str]]) -> list[dict[str, str]]:
    if not points:
        return []
    from iostrata.schema.users import full_name

    return [{"layer": p["layer"], "op": p["op"], "method": full_name(p)} for p in points]


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # common in containers
        return str(os.getuid())


def _state(ended: CommandEnd, published: bool) -> str:
    if ended.interrupted:
        return "interrupted"
    if not published:
        return "incomplete"
    return "ok" if ended.code == 0 else "failed"
