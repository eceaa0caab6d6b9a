"""Traces of DFTracer: .pfw and .pfw.gz, one JSON event a line, of processes that may be many files.

Read from what versions 1 to 4 of its format have in common: events with `ts` and `dur` in µs, names
of files and hosts as hashes that metadata lines explain. Where DFTRACER_INC_METADATA was not set
there are neither files nor bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostrata.importers.account import ImportAccount
from iostrata.importers.lines import lines_of
from iostrata.importers.names import CallTarget, of_path
from iostrata.importers.tables import Thread, TracedCall
from iostrata.importers.writer import RunWriter

HINT = "record with: DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 and the rest of its guide"
_UNITS = {"NS": 1, "US": 1_000, "MS": 1_000_000, "S": 1_000_000_000}
_METADATA = ("M", 4)
_EVENT = ("X", 1)
_MOST_KINDS = 50
_O_APPEND = 0o2000
# By name without `64`: operations as in `calls`, and those of streams of C.
_OPS = {
    **dict.fromkeys(("read", "pread", "readv", "preadv", "fread", "fgets", "fgetc"), "read"),
    **dict.fromkeys(("write", "pwrite", "writev", "pwritev", "fwrite", "fputs", "fputc"), "write"),
    **dict.fromkeys(("open", "openat", "creat", "fopen", "fdopen", "freopen", "opendir"), "open"),
    **dict.fromkeys(("close", "fclose", "closedir"), "close"),
    **dict.fromkeys(("lseek", "fseek", "fseeko", "rewind"), "seek"),
    **dict.fromkeys(("fsync", "fdatasync", "msync"), "sync"),
    **dict.fromkeys(("stat", "lstat", "fstat", "access", "readlink", "ftell"), "stat"),
    **dict.fromkeys(("__xstat", "__lxstat", "__fxstat", "__fxstatat", "fstatat"), "stat"),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir", "remove"), "delete"),
    **dict.fromkeys(("truncate", "ftruncate"), "truncate"),
    **dict.fromkeys(("link", "linkat", "symlink"), "link"),
    **dict.fromkeys(("chmod", "fchmod", "chown", "fchown", "utime"), "set_attributes"),
    **dict.fromkeys(("rename", "renameat"), "rename"),
    **dict.fromkeys(("mkdir", "mkdirat"), "mkdirs"),
    **dict.fromkeys(("readdir",), "list"),
    **dict.fromkeys(("fflush",), "flush"),
    **dict.fromkeys(("mmap",), "map"),
}


def recognises(begin: bytes) -> bool:
    """The first event, behind an opening bracket or not, has the fields of one."""
    lines = [text for text in begin.splitlines() if text.strip() not in (b"", b"[")]
    return (
        bool(lines) and lines[0].startswith(b"{") and b'"ph"' in lines[0] and b'"cat"' in lines[0]
    )


def read(path: Path, writer: RunWriter, account: ImportAccount) -> None:
    """Hands the events of a file to the writer."""
    account.unit = "line"
    trace = _EventLog(writer, account)
    for where, text in lines_of(path, account):
        try:
            trace.line(text)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            account.puzzled(where)
    trace.finish()


@dataclass
class _Place:
    """Where the one open descriptor of a file stands; None: unknown, as with several."""

    offset: int | None = None
    opened: int = 0


class _EventLog:
    """Names, threads and places of one file."""

    def __init__(self, writer: RunWriter, account: ImportAccount) -> None:
        self._writer, self._account = writer, account
        self._unit = _UNITS["US"]
        self._names: dict[str, dict[str, str]] = {"FH": {}, "HH": {}, "SH": {}}
        self._threads: dict[tuple[str, int, int], int] = {}
        self._processes: dict[tuple[str, int], int] = {}
        self._places: dict[tuple[int, str], _Place] = {}
        self._last = max((thread.proc or 0 for thread in writer.threads), default=0)
        self._nameless = 0

    def line(self, text: str) -> None:
        """Raises ValueError, TypeError, KeyError or OverflowError for what is no event."""
        text = text.strip().rstrip(",").lstrip("\0")
        if text in ("", "[", "]"):
            return
        event = json.loads(text)
        if not isinstance(event, dict):
            raise ValueError("no event")
        args = event.get("args") or {}
        if not isinstance(args, dict):
            raise ValueError("no arguments")
        if event["ph"] in _METADATA:
            self._metadata(str(event["name"]), args)
        elif event["ph"] in _EVENT:
            self._event(event, args)
        else:
            self._leave_out(f"events of phase {event['ph']}")

    def finish(self) -> None:
        """Says what a whole file lacked."""
        if self._nameless:
            self._account.note(
                f"{self._nameless:,} calls without file and bytes: "
                "they were traced without DFTRACER_INC_METADATA=1"
            )

    def _metadata(self, name: str, args: dict[str, Any]) -> None:
        if name in self._names:
            self._names[name][str(args["value"])] = str(args["name"])
        elif name == "CM" and args.get("name") == "time_metric":
            self._unit = _UNITS[str(args["value"])]

    def _event(self, event: dict[str, Any], args: dict[str, Any]) -> None:
        category, name = str(event["cat"]), str(event["name"]).removesuffix("64")
        start, dur = (round(event[field] * self._unit) for field in ("ts", "dur"))
        thread = self._thread(event, args)
        if category == "dftracer":
            self._own(name, thread, start, args)
            return
        in_libc = category in ("POSIX", "STDIO")
        op = _OPS.get(name) if in_libc else None
        if op is None:
            self._leave_out((name if in_libc else f"events of {category}")[:60])
            return
        self._nameless += not args
        failed = args.get("ret", 0) == -1 and name != "ftell"
        moves = op in ("read", "write")
        size = _size(name, args) if moves and not failed else 0
        target = self._target(args)
        call = TracedCall(
            op,
            target,
            self._offset(name, op, thread, target, size, args),
            size,
            _asked(args) if moves else None,
            "?" if failed else "",
        )
        self._writer.call(thread, start, dur, call)

    def _own(self, name: str, thread: int, at: int, args: dict[str, Any]) -> None:
        """Begin and end of a process."""
        row = self._writer.threads[thread]
        if name == "start":
            command = self._names["SH"].get(str(args.get("cmd_hash")), "")
            words = tuple(filter(None, command.split(";")))
            self._account.command = self._account.command or words
            row.start, row.main = at, words[0] if words else ""
        elif name == "end":
            row.end, row.exit = at, "ended"

    def _thread(self, event: dict[str, Any], args: dict[str, Any]) -> int:
        pid, tid = int(event["pid"]), int(event["tid"])
        if not (0 <= pid < 1 << 31 and 0 <= tid < 1 << 62):
            raise ValueError(f"no process id: {pid}")
        hosts = self._names["HH"]
        only = next(iter(hosts.values())) if len(hosts) == 1 else ""
        host = hosts.get(str(args.get("hhash", ""))) or only
        key = (host, pid, tid)
        if key not in self._threads:
            if (host, pid) not in self._processes:
                self._last += 1
                self._processes[host, pid] = self._last
            proc = self._processes[host, pid]
            row = Thread(proc, pid, tid, host=host, exit="running")
            self._threads[key] = self._writer.thread(row)
        return self._threads[key]

    def _target(self, args: dict[str, Any]) -> CallTarget | None:
        hashed = args.get("fhash", args.get("fname"))
        if hashed is None:
            return None
        unnamed = str(args.get("fname", f"file {hashed}"))
        return of_path(self._names["FH"].get(str(hashed), unnamed))

    def _offset(
        self,
        name: str,
        op: str,
        thread: int,
        target: CallTarget | None,
        size: int | None,
        args: dict[str, Any],
    ) -> int | None:
        """Where a call began. No event names its descriptor, so a file that is open twice in a
        process has no known place.
        """
        if target is None:
            return None
        proc = self._writer.threads[thread].proc or 0
        place = self._places.setdefault((proc, target.name), _Place())
        if op == "open":
            place.opened += 1
            appends = "a" in str(args.get("mode", "")) or int(args.get("flags", 0)) & _O_APPEND
            place.offset = 0 if place.opened == 1 and not appends else None
        elif op == "close" and place.opened <= 1:
            del self._places[proc, target.name]
        elif op == "close":
            place.opened -= 1
        elif op == "seek":
            place.offset = _sought(name, args) if place.opened <= 1 else None
        elif op in ("read", "write"):
            if name.startswith("p"):
                return int(args["offset"]) if "offset" in args else None
            began = place.offset
            place.offset = None if began is None or size is None else began + size
            return began
        return None

    def _leave_out(self, what: str) -> None:
        known = what in self._account.left_out or len(self._account.left_out) < _MOST_KINDS
        self._account.left_out[what if known else "others"] += 1


def _size(name: str, args: dict[str, Any]) -> int | None:
    """Bytes of a call that succeeded; None where the event does not tell."""
    moved = args.get("ret", args.get("ret_len"))
    if moved is None:
        return None
    return int(moved) * int(args.get("size", 1)) if name in ("fread", "fwrite") else int(moved)


def _asked(args: dict[str, Any]) -> int | None:
    if "count" not in args:
        return None
    return int(args["count"]) * int(args.get("size", 1))


def _sought(name: str, args: dict[str, Any]) -> int | None:
    """Where a seek went: lseek returns it, fseek is told it."""
    if name == "lseek":
        moved = int(args.get("ret", -1))
        return moved if moved >= 0 else None
    from_begin = name == "rewind" or args.get("whence") == 0
    return int(args.get("offset", 0)) if from_begin else None
