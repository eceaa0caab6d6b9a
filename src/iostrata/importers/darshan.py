"""Logs of Darshan: counters per file and rank become sums, DXT segments become calls.

Layers: POSIX and STDIO are `posix` (Darshan does not see what the C library writes for a stream,
so no byte is in both), MPI-IO above them is `fs`, HDF5 and PnetCDF above that are `record`: what
passes several of them is counted once in each layer.

The time of opens, seeks and stats is known together only; each has the share of it that its count
is. Syncs are in the time of writes, as Darshan counts them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from iostrata.errors import UserError
from iostrata.importers import histogram
from iostrata.importers.account import ImportAccount
from iostrata.importers.lines import open_bytes
from iostrata.importers.names import CallTarget, of_path
from iostrata.importers.tables import SummedCalls, Thread, TracedCall
from iostrata.importers.writer import RunWriter
from iostrata.store.facts import MOST, CountedFile

HINT = "a log of Darshan 3 ends in .darshan; darshan-parser of its own tools may say more"
_MAGIC = 6567223
_SECOND = 10**9
_MOST_RANKS = 1 << 16  # rows of `processes`; more would be no help to anybody
_SHARED = -1


@dataclass(frozen=True)
class Module:
    """How the counters of a module are called: operations, and the counters each adds up."""

    prefix: str
    layer: str
    data: Mapping[str, tuple[str, ...]]
    other: Mapping[str, tuple[str, ...]]
    untimed: tuple[str, ...] = ()  # of `other`: their time is in that of writes, or not known
    sizes: str = ""  # of counters of size classes, with {way} and {name}


def _all_kinds(what: str) -> tuple[str, ...]:
    return tuple(f"{kind}_{what}" for kind in ("INDEP", "COLL", "SPLIT", "NB"))


_PLAIN = {"read": ("READS",), "write": ("WRITES",)}
_OF_ALL_KINDS = {"read": _all_kinds("READS"), "write": _all_kinds("WRITES")}
_HDF5 = {"open": ("OPENS",), "flush": ("FLUSHES",)}
_AGGREGATED = "SIZE_{way}_AGG_{name}"
_OF_POSIX = {
    "open": ("OPENS",),
    "seek": ("SEEKS",),
    "stat": ("STATS",),
    "rename": ("RENAME_SOURCES",),
    "sync": ("FSYNCS", "FDSYNCS"),
    "map": ("MMAPS",),
}
_OF_STDIO = {"open": ("OPENS",), "seek": ("SEEKS",), "flush": ("FLUSHES",)}
_OF_MPI = {"open": ("INDEP_OPENS", "COLL_OPENS"), "sync": ("SYNCS",)}
_OF_PNETCDF = {"open": ("CREATES", "OPENS"), "sync": ("SYNCS",)}
MODULES = {
    "POSIX": Module("POSIX", "posix", _PLAIN, _OF_POSIX, ("sync", "map"), "SIZE_{way}_{name}"),
    "STDIO": Module("STDIO", "posix", _PLAIN, _OF_STDIO, ("flush",)),
    "MPI-IO": Module("MPIIO", "fs", _OF_ALL_KINDS, _OF_MPI, ("sync",), _AGGREGATED),
    "H5F": Module("H5F", "record", {}, _HDF5),
    "H5D": Module("H5D", "record", _PLAIN, _HDF5, (), _AGGREGATED),
    "PNETCDF_FILE": Module("PNETCDF_FILE", "record", {}, _OF_PNETCDF),
    "PNETCDF_VAR": Module(
        "PNETCDF_VAR", "record", _OF_ALL_KINDS, {"open": ("OPENS",)}, (), _AGGREGATED
    ),
}
_DXT = {"DXT_POSIX": "posix", "DXT_MPIIO": "fs"}
_MOVED = {"read": ("READ", "BYTES_READ"), "write": ("WRITE", "BYTES_WRITTEN")}
_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")


def recognises(begin: bytes) -> bool:
    """The magic number behind the version, in either order of bytes."""
    number = begin[8:16]
    return _MAGIC in (int.from_bytes(number, "little"), int.from_bytes(number, "big"))


def read(path: Path, writer: RunWriter, account: ImportAccount) -> None:
    """Hands sums and segments of a log to the writer; raises UserError without the extra."""
    account.unit = "record"
    if find_spec("darshan") is None:
        raise UserError(
            f"{path} is a log of Darshan, and its library is not installed",
            "pip install 'iostrata[darshan]'",
        )
    open_bytes(path).close()
    log = _Log(path.name, writer, account)
    for line in _lines(path, account):
        log.line(line)
    log.finish()
    account.reached(path, path.stat().st_size)


def _lines(path: Path, account: ImportAccount) -> Iterator[dict[str, Any]]:
    """What `darshan_dump` says of a log, as far as it comes."""
    command = [sys.executable, "-m", "iostrata.importers.darshan_dump", str(path.absolute())]
    # What the library complains about goes nowhere: it is many lines for one fault.
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    whole = False
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **quiet) as child:  # type: ignore[call-overload]
        try:
            for text in child.stdout:
                try:
                    line = json.loads(text)
                except ValueError:
                    break  # it crashed within a line
                whole = whole or "end" in line
                if "trouble" in line:
                    account.cut(f"{path.name}: {line['trouble']}")
                else:
                    yield line
        finally:
            child.kill()
    if not whole:
        account.cut(f"{path.name}: the library of Darshan fails on it")


@dataclass
class _Log:
    """One log: a job of so many ranks."""

    file: str
    writer: RunWriter
    account: ImportAccount
    start: int = 0  # ns since the epoch
    length: int = 0  # ns
    ranks: int = 0
    job: str = ""
    main: str = ""
    uid: int | None = None
    names: dict[str, str] = field(default_factory=dict)
    counters: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    threads: dict[int, int] = field(default_factory=dict)  # by rank
    first: int = 0  # process of rank 0
    traced: bool = False
    moves: int = 0  # reads and writes, all and individually
    segments: int = 0
    negative: int = 0  # times that a log has below 0
    counted: dict[str, CountedFile] = field(default_factory=dict)  # by name

    def line(self, line: dict[str, Any]) -> None:
        """Takes a line of the dump."""
        if "job" in line:
            self._job(line["job"])
        elif "names" in line:
            self.names |= line["names"]
        elif "module" in line:
            self._module(line)
        elif "of" in line:
            traced = "segments" in line
            self.account.read += len(line["segments"]) if traced else 1
            try:
                if traced:
                    self._segments(line)
                else:
                    self._record(line)
            except (ValueError, OverflowError):
                where = f"{line['of']} of file {line['id']}"
                self.account.puzzled(f"{self.file}, {where}")

    def finish(self) -> None:
        """Ranks of which there is no record were there, too."""
        if 0 < self.ranks <= _MOST_RANKS:
            for rank in range(self.ranks):
                self.thread(rank)
        elif self.ranks:
            self.account.note(f"ranks without a record of their own, of {self.ranks:,}: not listed")
        self.account.took_longest(self.counted.values())
        if self.negative:
            self.account.note(f"{self.negative:,} times below 0 in {self.file} count as 0")
        if not self.traced:
            self.account.note("counters only, no individual calls: DXT was off")
        elif self.segments < self.moves:
            some = f"{self.segments:,} of {self.moves:,} reads and writes"
            self.account.note(f"{some} were recorded individually (DXT), all are in totals")

    def _job(self, job: dict[str, Any]) -> None:
        numbers = [thread.proc or 0 for thread in self.writer.threads]
        self.first = 1 + max(numbers, default=0)
        self.start = job["start_time_sec"] * _SECOND + job["start_time_nsec"]
        end = job["end_time_sec"] * _SECOND + job["end_time_nsec"]
        self.length = max(0, end - self.start, _nanoseconds(job["run_time"]))
        self.ranks, self.job = max(0, job["nprocs"]), str(job["jobid"])
        words = tuple(job["exe"].split())
        self.main = words[0] if words else ""
        self.uid = job["uid"] if 0 <= job["uid"] < 1 << 31 else None
        account = self.account
        account.command = account.command or words
        account.user = account.user or f"uid {job['uid']}"
        account.start = min(account.start or self.start, self.start)
        account.end = max(account.end, self.start + self.length)

    def _module(self, line: dict[str, Any]) -> None:
        name = line["module"]
        self.counters[name] = (line["counters"], line["fcounters"])
        if name not in MODULES and name not in _DXT:
            self.account.left_out[f"module {name}"] += 1
        if line["partial"]:
            self.account.cut(f"{self.file}: Darshan had no room left for {name}")

    def thread(self, rank: int, host: str = "") -> int:
        """Number of the thread of a rank; all that files of several ranks share is one of its own,
        and no process.
        """
        number = self.threads.get(rank)
        if number is None:
            row = Thread(None, None, None, role="rank", job=self.job, main=self.main)
            if rank != _SHARED:
                row.proc, row.tid, row.name, row.uid = (
                    self.first + rank,
                    rank,
                    f"rank {rank}",
                    self.uid,
                )
                row.task = f"rank {rank:0{len(str(max(0, self.ranks - 1)))}}"
                row.start, row.end = self.start, self.start + self.length
            number = self.threads[rank] = self.writer.thread(row)
        self.writer.threads[number].host = self.writer.threads[number].host or host
        return number

    def _record(self, line: dict[str, Any]) -> None:
        module = MODULES[line["of"]]
        names, fnames = self.counters[line["of"]]
        values = dict(zip(names, line["c"], strict=False))
        times = dict(zip(fnames, line["f"], strict=False))
        target = self._target(line["id"])
        record = DarshanRecord(self, module, line["rank"], target, values, times)
        record.write()
        if line["of"] == "POSIX":
            self.count(record.counted())

    def count(self, file: CountedFile) -> None:
        """Adds what a rank counted of a file to what others did; each has the same alignment. What
        a damaged log says may have no end.
        """
        known = self.counted.get(file.target, CountedFile(file.target, alignment=file.alignment))
        added = ("requests", "unaligned", "consecutive", "time")
        sums = {name: min(MOST, getattr(known, name) + getattr(file, name)) for name in added}
        slowest = min(MOST, max(known.slowest, file.slowest))
        self.counted[file.target] = msgspec.structs.replace(known, slowest=slowest, **sums)

    def _segments(self, line: dict[str, Any]) -> None:
        self.traced = True
        thread = self.thread(line["rank"], line["host"])
        target, layer = self._target(line["id"]), _DXT[line["of"]]
        for offset, size, start, end in line["segments"]:
            place = offset if offset >= 0 else None
            call = TracedCall(line["way"], target, place, size, layer=layer)
            began = self.start + _nanoseconds(start)
            self.writer.call(thread, began, self.start + _nanoseconds(end) - began, call)
            self.segments += 1

    def _target(self, key: str) -> CallTarget:
        name = self.names.get(key, f"file {key}")
        return CallTarget(name, "pipe") if name in _STREAMS else of_path(name)


@dataclass
class DarshanRecord:
    """Counters of a file in a rank, or in all that shared it."""

    log: _Log
    module: Module
    rank: int
    target: CallTarget
    values: dict[str, int]
    times: dict[str, float]

    def write(self) -> None:
        """Hands sums to the writer; raises ValueError for numbers that no file has."""
        for op, counters in self.module.data.items():
            self._data(op, self._count(counters))
            self.log.moves += self._count(counters)
        counts = {op: self._count(names) for op, names in self.module.other.items()}
        timed = sum(n for op, n in counts.items() if op not in self.module.untimed)
        left = self._time("META_TIME")
        for op, count in counts.items():
            if count:
                share = 0 if op in self.module.untimed else left * count // timed
                if op not in self.module.untimed:
                    left, timed = left - share, timed - count
                when = self._when("OPEN_START", "CLOSE_END")
                self._sum(op, when, histogram.SizeCount(count, 0, 0), share, estimated=True)

    def counted(self) -> CountedFile:
        """Counters of POSIX that become no rows; the slowest rank only of what ranks share."""

        def time(*names: str) -> int:
            return sum(_nanoseconds(self.times.get(f"POSIX_F_{name}_TIME", 0.0)) for name in names)

        return CountedFile(
            self.target.name,
            self._count(("READS", "WRITES")),
            self._count(("FILE_NOT_ALIGNED",)),
            self._count(("CONSEC_READS", "CONSEC_WRITES")),
            self._count(("FILE_ALIGNMENT",)),
            time("READ", "WRITE", "META"),
            time("SLOWEST_RANK") if self.rank == _SHARED else 0,
        )

    def _data(self, op: str, count: int) -> None:
        way, moved = _MOVED[op]
        size = max(0, self.values.get(f"{self.module.prefix}_{moved}", 0))
        when = self._when(f"{way}_START", f"{way}_END")
        left, calls = self._time(f"{way}_TIME"), count
        most = self._time(f"MAX_{way}_TIME") or None
        for part in self._sizes(way, count, size):
            share = left * part.count // calls
            left, calls = left - share, calls - part.count
            self._sum(op, when, part, share, most)

    def _sizes(self, way: str, count: int, size: int) -> list[histogram.SizeCount]:
        if not self.module.sizes:
            return [histogram.SizeCount(count, size, None if size else 0)] if count else []
        prefix = self.module.prefix
        names = [self.module.sizes.format(way=way, name=name) for name in histogram.NAMES]
        counts = [self._count((name,)) for name in names]
        common = {
            self.values.get(f"{prefix}_ACCESS{i}_ACCESS", 0): self._count((f"ACCESS{i}_COUNT",))
            for i in (1, 2, 3, 4)
        }
        return histogram.split(counts, count, size, common)

    def _sum(
        self,
        op: str,
        when: tuple[int, int],
        part: histogram.SizeCount,
        time: int,
        most: int | None = None,
        estimated: bool = False,
    ) -> None:
        sizes = (part.count, part.bytes, part.size_class)
        layer = self.module.layer
        calls = SummedCalls(layer, op, self.target, *sizes, time, most, estimated)
        self.log.writer.sum(self.log.thread(self.rank), *when, calls)

    def _count(self, names: tuple[str, ...]) -> int:
        """Counters that a log does not have are -1 in it."""
        return sum(max(0, self.values.get(f"{self.module.prefix}_{name}", 0)) for name in names)

    def _time(self, name: str) -> int:
        time = self.times.get(f"{self.module.prefix}_F_{name}", 0.0)
        self.log.negative += time < 0
        return _nanoseconds(time)

    def _when(self, first: str, last: str) -> tuple[int, int]:
        """Begin and length of the time in which it happened; of the whole job where not known."""
        begin, end = (self._time(f"{name}_TIMESTAMP") for name in (first, last))
        if not 0 < begin <= end:
            return self.log.start, self.log.length
        return self.log.start + begin, end - begin


def _nanoseconds(seconds: float) -> int:
    """Raises ValueError or OverflowError for what is no time."""
    return max(0, round(seconds * _SECOND))
