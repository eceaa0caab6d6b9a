"""What a system call did, from its arguments and its result."""

from __future__ import annotations

import posixpath
import re

from iostrata.importers import calls
from iostrata.importers.descriptors import Description, Descriptors
from iostrata.importers.names import of_path
from iostrata.importers.syscalls import Result, descriptor, integer, string
from iostrata.importers.tables import TracedCall

_PAIR = re.compile(r"\[(.*?>|\d+), (.*)\]", re.S)
_NO_ARGUMENT = ""


def perform(
    name: str, arguments: list[str], result: Result, files: Descriptors
) -> tuple[TracedCall, ...]:
    """The I/O of a call, none for others; `files` follow it."""
    call = _Call(name, arguments, result, files)
    if name in calls.MOVES:
        return call.moved(calls.MOVES[name])
    if name in calls.TRANSFERS:
        return call.transferred(calls.TRANSFERS[name])
    if name in calls.OPENS:
        return call.opened(calls.OPENS[name])
    if name in calls.NAMED:
        return call.named(calls.NAMED[name])
    if name in calls.RENAMES:
        return call.renamed(*calls.RENAMES[name])
    if name in calls.ON_DESCRIPTOR:
        return call.on_descriptor(calls.ON_DESCRIPTOR[name])
    if name in ("mmap", "mmap2"):
        return call.mapped()
    call.changed_descriptors()
    return ()


class _Call:
    def __init__(self, name: str, arguments: list[str], result: Result, files: Descriptors) -> None:
        self._name, self._arguments, self._files = name, arguments, files
        self._value, self._path = result.value, result.path
        self._error = result.error or ("?" if result.value is not None and result.value < 0 else "")
        if self._value is not None and self._value < 0:
            self._value = None

    def moved(self, how: calls.Move) -> tuple[TracedCall, ...]:
        file = self._file(0)
        if file is None:
            return ()
        size = 0 if self._error else None if how.messages else self._value
        place = None if how.offset is None else integer(self._argument(how.offset))
        if place is None or place < 0:
            place = file.moved(size or 0, how.writes)
        op = "write" if how.writes else "read"
        if file.socket:
            op, place = "send" if how.writes else "receive", None
        asked = None if how.asked is None else integer(self._argument(how.asked))
        return (TracedCall(op, file.target, place, size, asked, self._error),)

    def transferred(self, how: calls.FileCopy) -> tuple[TracedCall, ...]:
        """Two rows: what was read is the call, what was written is within it."""
        source, sink = self._file(how.source), self._file(how.sink)
        if source is None or sink is None:
            return ()
        size = 0 if self._error else self._value
        asked = integer(self._argument(how.asked))
        begun = self._place(source, how.source_offset, size or 0, False)
        put = self._place(sink, how.sink_offset, size or 0, True)
        op = "send" if sink.socket else "write"
        return (
            TracedCall("transfer", source.target, begun, size, asked, self._error),
            TracedCall(op, sink.target, put, size, asked, self._error, inner=True),
        )

    def opened(self, how: calls.PathArgument) -> tuple[TracedCall, ...]:
        path = self._path or self._named(how)
        flags = self._argument(how.path + 1)
        if self._value is not None and not self._error:
            self._files[self._value] = Description(path, 0, append="O_APPEND" in flags)
        return (TracedCall("open", of_path(path), error=self._error),)

    def named(self, how: calls.PathArgument) -> tuple[TracedCall, ...]:
        return (TracedCall(how.op, of_path(self._named(how)), error=self._error),)

    def renamed(self, before: int, after: int) -> tuple[TracedCall, ...]:
        relative = before > 0
        names = [
            self._named(calls.PathArgument("rename", path, path - 1 if relative else None))
            for path in (before, after)
        ]
        if not self._error:
            self._files.renamed(*names)
        return (TracedCall("rename", of_path(names[0]), error=self._error),)

    def on_descriptor(self, op: str) -> tuple[TracedCall, ...]:
        file = self._file(0)
        number = self._number(0)
        if file is None or number is None:
            return ()
        if op == "close":
            self._files.pop(number, None)
        elif op == "seek" and not self._error:
            file.offset = self._value if self._name == "lseek" else None
        elif op == "accept" and self._value is not None:
            self._files[self._value] = _socket(self._path)
        return (TracedCall(op, file.target, error=self._error),)

    def mapped(self) -> tuple[TracedCall, ...]:
        """A mapped file: which of its pages are read, and when, nobody sees."""
        number = self._number(4)
        file = None if number is None or number < 0 else self._file(4)
        if file is None:
            return ()
        place = self._argument(5)
        offset = int(place, 16) if re.fullmatch(r"0x[0-9a-f]{1,15}", place) else integer(place)
        size = 0 if self._error else integer(self._argument(1))
        return (TracedCall("map", file.target, offset, size, error=self._error),)

    def changed_descriptors(self) -> None:
        """Copies, pairs and sockets."""
        if self._error or self._value is None:
            return
        if self._name in calls.DUPLICATES:
            if "fcntl" not in self._name or self._argument(1).startswith("F_DUPFD"):
                file = self._file(0)
                if file is not None:
                    self._files[self._value] = file
        elif self._name in calls.PAIRS:
            pair = _PAIR.fullmatch(self._argument(calls.PAIRS[self._name]))
            for end in pair.groups() if pair else ():
                self._begun(end)
        elif self._name == "chdir":
            self._files.directory = self._named(calls.PathArgument("chdir"))
        elif self._name == "socket":
            self._files[self._value] = _socket(self._path)
        elif self._name == "close_range":
            first, last = integer(self._argument(0)), integer(self._argument(1))
            if first is not None and last is not None:
                self._files.closed_range(first, last)

    def _begun(self, end: str) -> None:
        """One end of a pipe, or of a pair of sockets."""
        found = descriptor(end)
        if found and found[0] is not None:
            socket = self._name == "socketpair"
            self._files[found[0]] = Description(found[1], socket=socket, pipe=not socket)

    def _argument(self, position: int) -> str:
        in_range = position < len(self._arguments)
        return self._arguments[position] if in_range else _NO_ARGUMENT

    def _number(self, position: int) -> int | None:
        parsed = descriptor(self._argument(position))
        return parsed[0] if parsed else None

    def _file(self, position: int) -> Description | None:
        parsed = descriptor(self._argument(position))
        if parsed is None or parsed[0] is None:
            return None
        return self._files.at(parsed[0], parsed[1]) if parsed[0] >= 0 else Description("")

    def _place(
        self, file: Description, position: int | None, size: int, writes: bool
    ) -> int | None:
        """Where it began: where an argument says, else where the description stands."""
        place = None if position is None else integer(self._argument(position))
        return file.moved(size, writes) if place is None else place

    def _named(self, how: calls.PathArgument) -> str:
        """The path of an argument, completed where the trace says what it is relative to."""
        path = string(self._argument(how.path))
        base = self._files.directory
        if how.directory is not None:
            folder = descriptor(self._argument(how.directory))
            base = folder[1] if folder else ""
            if folder and folder[0] is None and base:
                self._files.directory = base
        if path is None:
            return ""
        if path.startswith("/") or not base:
            return path
        return posixpath.normpath(f"{base}/{path}") if path else base


def _socket(path: str) -> Description:
    return Description(path, socket=True)
