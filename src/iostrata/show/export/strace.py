"""Lines as of `strace -f -ttt -T -y --absolute-timestamps=precision:ns`, by the begin of calls.

What Java does with files and sockets has the names of system calls; calls of other layers are
named `LAYER_OP`, so that no byte of a system call is counted twice. strace knows neither hosts nor
threads of the JVM: the main thread of a process has its pid, every other one a number of its own.
"""

from __future__ import annotations

import re
from heapq import heappop, heappush
from itertools import count
from typing import BinaryIO

from iostrata.show.export.source import Call, CallOrder, Source

_NO_NAME = re.compile("[^A-Za-z0-9_]")
_SYSTEM_CALLS = {
    "open": "openat",
    "read": "read",
    "write": "write",
    "receive": "recvfrom",
    "send": "sendto",
    "sync": "fsync",
    "close": "close",
}
# Exceptions of Java by the errno that they stand for; any other one is EIO.
_ERRNO = {
    "java.io.FileNotFoundException": "ENOENT",
    "java.nio.file.NoSuchFileException": "ENOENT",
    "java.nio.file.FileAlreadyExistsException": "EEXIST",
    "org.apache.hadoop.fs.FileAlreadyExistsException": "EEXIST",
    "java.nio.file.AccessDeniedException": "EACCES",
    "org.apache.hadoop.security.AccessControlException": "EACCES",
    "java.nio.channels.ClosedChannelException": "EBADF",
    "java.net.SocketTimeoutException": "ETIMEDOUT",
    "java.net.ConnectException": "ECONNREFUSED",
}


def write(source: Source, out: BinaryIO) -> int:
    """Writes the lines; how many there are."""
    numbers = _numbers(source)
    files: dict[int, _Files] = {}
    lines = 0
    for call in source.calls(CallOrder.time, causes=False):
        number = numbers[call.host, call.proc, call.tid]
        text = _text(call, files.setdefault(call.proc, _Files()))
        out.write(f"{number} {_seconds(call.start)} {text}\n".encode("ascii"))
        lines += 1
    return lines


class _Files:
    """Numbers of the files of a process as a kernel gives them: the lowest that is free."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []

    def number(self, target: str) -> int:
        """Of an open file, or one that is opened with it."""
        number = self._numbers.get(target)
        if number is None:
            number = heappop(self._free) if self._free else len(self._numbers) + 3
            self._numbers[target] = number
        return number

    def close(self, target: str) -> int:
        """The number that is free from now on."""
        number = self.number(target)
        del self._numbers[target]
        heappush(self._free, number)
        return number


def _numbers(source: Source) -> dict[tuple[str, int, int], int]:
    """A number per thread: its pid for the first of a process, unless that is taken."""
    threads = [(row.host, row.proc, row.tid, row.pid) for row in source.threads()]
    pids = {pid for *_, pid in threads}
    unused = count(max(pids, default=0) + 1)
    numbers: dict[tuple[str, int, int], int] = {}
    started: set[tuple[str, int]] = set()
    for host, proc, tid, pid in threads:
        first = (host, proc) not in started and pid in pids and pid > 0
        started.add((host, proc))
        if first:
            pids.remove(pid)
        numbers[host, proc, tid] = pid if first else next(unused)
    return numbers


def _text(call: Call, files: _Files) -> str:
    """`read(3</a>, ""..., 4096) = 4096 <0.000012000>`."""
    low = call.layer in ("java", "posix")
    name = _SYSTEM_CALLS.get(call.op) if low else None
    arguments, value = _system_call(call, name, files) if name else _other_call(call)
    if name in ("read", "write") and call.offset is not None:
        name = {"read": "pread64", "write": "pwrite64"}[name]
        arguments = f"{arguments}, {call.offset}"
    name = name or _NO_NAME.sub("_", call.op if call.layer == "posix" else call.name)
    if not call.finished:
        return f"{name}({arguments} <unfinished ...>"
    if call.error:
        value = f"-1 {_error(call.error)}"
    return f"{name}({arguments}) = {value} <{_seconds(call.dur)}>"


def _system_call(call: Call, name: str, files: _Files) -> tuple[str, str]:
    """Arguments and return value."""
    target = call.target or call.peer or ""
    path = _escaped(target)
    if name == "openat":
        number = "" if call.error else f"{files.number(target)}<{path}>"
        return f'AT_FDCWD, "{path}", ...', number
    if name == "close":
        return f"{files.close(target)}<{path}>", "0"
    kind = {"socket": "socket", "pipe": "pipe"}.get(call.category or "")
    file = f"{files.number(target)}<{f'{kind}:[{path}]' if kind else path}>"
    if name == "fsync":
        return file, "0"
    moved = max(call.bytes or 0, 0)
    wanted = moved if call.asked is None else call.asked
    rest = {"recvfrom": ", 0, NULL, NULL", "sendto": ", 0, NULL, 0"}.get(name, "")
    return f'{file}, ""..., {wanted}{rest}', str(moved)


def _other_call(call: Call) -> tuple[str, str]:
    given = [] if call.target is None else [f'"{_escaped(call.target)}"']
    wanted = call.asked if call.asked is not None else call.bytes or None
    given += [str(value) for value in (wanted, call.offset) if value is not None]
    return ", ".join(given), str(max(call.bytes or 0, 0))


def _error(error: str) -> str:
    if error.startswith("E") and error.isupper():
        return f"{error} ({error})"
    return f"{_ERRNO.get(error, 'EIO')} ({_escaped(error)})"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def _escaped(text: str) -> str:
    """As strace writes what is not plain ASCII, and what would end a string or a path."""
    if text.isascii() and text.isprintable() and not _SPECIAL.intersection(text):
        return text
    return "".join(_BYTES[byte] for byte in text.encode("utf-8", "replace"))


_SPECIAL = frozenset('"\\<>')
_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BYTES = [
    _NAMED.get(chr(byte))
    or (chr(byte) if 32 <= byte < 127 and chr(byte) not in "<>" else f"\\{byte:03o}")
    for byte in range(256)
]
