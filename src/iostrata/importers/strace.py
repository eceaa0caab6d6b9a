"""Traces of `strace -f -ttt -T -y`, one system call a line.

What is in memory, mapped or read ahead by the kernel is no system call, and not in the trace.
"""

from __future__ import annotations

import re
import signal as signals
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from iostrata.importers import calls
from iostrata.importers.account import ImportAccount
from iostrata.importers.descriptors import Descriptors
from iostrata.importers.lines import lines_of
from iostrata.importers.performed import perform
from iostrata.importers.syscalls import (
    Line,
    ProcessEnd,
    ended,
    line,
    name_of,
    resumed,
    split,
    string,
    unescaped,
    unfinished,
)
from iostrata.importers.tables import Thread, TracedCall
from iostrata.importers.writer import RunWriter

HINT = "record with: strace -f -ttt -T -y -o FILE COMMAND"
_CALL = re.compile(
    rb"^(\[pid +\d+\] |\d+ +)?(\d+\.\d+ )?([a-z_0-9]+\(|<\.\.\. |\+\+\+ |--- )", re.M
)
_OF_PROCESS = re.compile(r".*\.(\d{1,10})(?:\.gz)?")  # a file of strace -ff
_ARGUMENT = re.compile(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?', re.S)
_NO_IO = "calls that are no I/O"
_MOST_PID = 1 << 31


def recognises(begin: bytes) -> bool:
    """The first lines of a file, or most of them, are such calls."""
    lines = begin.splitlines()[:20]
    return bool(lines) and 2 * len(_CALL.findall(b"\n".join(lines))) > len(lines)


def read(path: Path, writer: RunWriter, account: ImportAccount) -> None:
    """Hands the calls of a file to the writer."""
    named = _OF_PROCESS.fullmatch(path.name)
    trace = _CallLog(writer, account, int(named[1]) if named and int(named[1]) < _MOST_PID else 0)
    understood = True
    for where, text in lines_of(path, account):
        try:
            understood = trace.line(line(text))
        except ValueError:  # a number that no call has
            understood = False
        if not understood:
            account.puzzled(where)
    if not understood:
        account.cut(f"the last line of {path.name} is cut off")
    trace.finish()


@dataclass
class _Process:
    """What threads share; `number` is that of the process in the run."""

    number: int
    pid: int
    files: Descriptors = field(default_factory=Descriptors)
    main: str = ""


@dataclass
class _TracedThread:
    number: int  # of the writer
    tid: int
    process: _Process
    open: tuple[int, str] | None = None  # begin, and first half of the text, of the call it is in


class _CallLog:
    """Threads of one file, by their ids."""

    def __init__(self, writer: RunWriter, account: ImportAccount, pid: int) -> None:
        self._writer, self._account = writer, account
        self._processes = max((thread.proc or 0 for thread in writer.threads), default=0)
        self._threads: dict[int, _TracedThread] = {}
        self._forks: dict[int, _TracedThread] = {}  # in such a call, by their number
        self._unnamed = pid  # of lines that name no process
        self._first: _TracedThread | None = None
        self._timed = False

    def line(self, line: Line) -> bool:
        """False where it is not understood."""
        if line.text.startswith(("--- ", "strace: ")) and line.text.rstrip():
            return True
        if line.pid is not None and line.pid >= _MOST_PID:
            return False
        ends = ended(line.text)
        if ends is None and line.at is None:
            return False
        thread = self._thread(self._pid(line.pid))
        if ends is not None:
            self._ended(thread, line.at or 0, ends)
            return True
        if line.text.startswith("+++ superseded by"):
            return True
        assert line.at is not None
        return self._call(thread, line.at, line.text)

    def finish(self) -> None:
        """Calls that never returned, and what is known of threads in the end."""
        for thread in self._threads.values():
            self._unfinished(thread)
        if self._writer.calls and not self._timed:
            self._account.note("no durations: strace ran without -T")

    def _pid(self, pid: int | None) -> int:
        """The first process has no number until another one begins, where strace wrote to a
        terminal: the first number that nobody forked is its own.
        """
        if pid is None:
            return self._unnamed
        first = self._threads.get(0)
        if self._unnamed == 0 and first is not None and pid not in self._threads:
            if self._forking() is not None:
                return pid
            self._unnamed, first.tid, first.process.pid = pid, pid, pid
            self._threads[pid] = self._threads.pop(0)
            self._rename(first)
        return pid

    def _thread(self, tid: int) -> _TracedThread:
        thread = self._threads.get(tid)
        if thread is None:
            # its first call may come before the return of the one that made it
            parent = self._forking()
            made = parent.open[1] if parent and parent.open else ""
            thread = self._begin(tid, self._made_by(parent, made, tid))
        return thread

    def _begin(self, tid: int, process: _Process) -> _TracedThread:
        row = Thread(process.number, process.pid, tid, main=process.main, exit="running")
        thread = self._threads[tid] = _TracedThread(self._writer.thread(row), tid, process)
        self._first = self._first or thread
        return thread

    def _made_by(self, parent: _TracedThread | None, made: str, tid: int) -> _Process:
        """The process of a thread that a call with the text `made` begins."""
        if parent is not None and "CLONE_THREAD" in made:
            return parent.process
        self._processes += 1
        if parent is None:
            return _Process(self._processes, tid)
        files = parent.process.files
        files = files if "CLONE_FILES" in made else files.forked()
        return _Process(self._processes, tid, files, parent.process.main)

    def _forking(self) -> _TracedThread | None:
        """A thread whose call that makes another one has not returned."""
        return next(iter(self._forks.values()), None)

    def _enter(self, thread: _TracedThread, call: tuple[int, str] | None) -> None:
        """From now on it is in that call, of which the first half is known; None: in none."""
        thread.open = call
        if call and name_of(call[1]) in calls.FORKS:
            self._forks[thread.number] = thread
        else:
            self._forks.pop(thread.number, None)

    def _forked(self, thread: _TracedThread, child: int | None, made: str) -> None:
        if child is None or not 0 < child < _MOST_PID or child == thread.tid:
            return
        begun = self._threads.get(child)
        if begun is None:
            self._begin(child, self._made_by(thread, made, child))
        elif ("CLONE_THREAD" in made) != (begun.process is thread.process):
            begun.process = self._made_by(thread, made, child)  # two were forking: the other one
            self._rename(begun)

    def _call(self, thread: _TracedThread, at: int, text: str) -> bool:
        rest = resumed(text)
        if rest is not None:
            before = thread.open
            self._enter(thread, None)
            if before is None or name_of(before[1]) != rest[0]:
                return False
            at, text = before[0], before[1] + rest[1]
        half = unfinished(text)
        if half is not None and name_of(half):
            self._unfinished(thread)
            self._enter(thread, (at, half))
            return True
        name = name_of(text)
        if not name:
            return False
        parts = split(text)
        if parts is None:
            return False
        arguments, result = parts
        if name in calls.FORKS:
            self._forked(thread, result.value, text)
        elif name in ("execve", "execveat"):
            self._executed(thread, arguments, result.value)
        performed = perform(name, arguments, result, thread.process.files)
        if not performed:
            blind = f"{name}: what it reads or writes is not in the trace"
            self._account.left_out[blind if name in calls.BLIND else _NO_IO] += 1
        for each in performed:
            self._write(thread, at, result.dur, each)
        return True

    def _write(self, thread: _TracedThread, at: int, dur: int | None, call: TracedCall) -> None:
        self._timed |= dur is not None
        self._writer.call(thread.number, at, dur, call)

    def _executed(self, thread: _TracedThread, arguments: list[str], value: int | None) -> None:
        if value != 0 or len(arguments) < 2:
            return
        thread.process.main = string(arguments[0]) or ""
        self._rename(thread)
        if thread is self._first and not self._account.command:
            self._account.command = tuple(map(_word, _ARGUMENT.findall(arguments[1])))

    def _rename(self, thread: _TracedThread) -> None:
        row, process = self._writer.threads[thread.number], thread.process
        row.proc, row.pid, row.tid, row.main = process.number, process.pid, thread.tid, process.main

    def _ended(self, thread: _TracedThread, at: int, how: ProcessEnd) -> None:
        self._unfinished(thread)
        row = self._writer.threads[thread.number]
        row.end, row.exit = at, "killed" if how.signal else "ended"
        if thread is self._first and self._account.exit is None:
            signal = 128 + getattr(signals, how.signal, 0)
            self._account.exit = signal if how.code is None else how.code
        del self._threads[thread.tid]

    def _unfinished(self, thread: _TracedThread) -> None:
        """The call that a thread is in did not return, as far as the trace says."""
        if thread.open is None:
            return
        at, text = thread.open
        self._enter(thread, None)
        parts = split(f"{text}) = ?")
        for one in perform(name_of(text), *parts, thread.process.files) if parts else ():
            self._write(thread, at, None, replace(one, kind="unfinished"))


def _word(argument: str) -> str:
    """A word of a command, of which strace may have shown the begin only."""
    whole = string(argument)
    return unescaped(argument[1:-4]) + "…" if whole is None else whole
