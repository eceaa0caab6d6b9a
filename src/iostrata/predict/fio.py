"""One sample of a point: fio reads or writes as the point says (S5.2, S5.3)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostrata.errors import UserError
from iostrata.predict import child
from iostrata.predict.dimensions import (
    ACCESS,
    CACHE,
    CLIENTS,
    FIO,
    OPERATION,
    REQUEST,
    SEQUENTIAL,
    SIZE,
    Point,
    point_text,
    skew,
)

_PIECE = 1 << 20
# What fio adds to the time that a sample may take before it counts as one that hangs, s.
PATIENCE = 300.0
# A file in a folder that a profile has made, and may delete.
MARK = "made-by-iostrata-profile"
# What makes the files that are read.
WHOLE_FILES = ("--rw=write", "--bs=1m", "--end_fsync=1")


@dataclass(frozen=True)
class FioResult:
    """What all clients of a sample moved, in ns from the first begin to the last end."""

    bytes: int
    nanos: int


@dataclass(frozen=True)
class Fio:
    """fio in a folder of its own; `seconds`: how long a sample takes at most."""

    program: str
    folder: Path
    seconds: float

    @staticmethod
    def found() -> str:
        """Where fio is; raises UserError where it is not installed."""
        program = shutil.which("fio")
        if program is None:
            raise UserError("fio is not installed", "apt-get install fio, or your system's package")
        return program

    def prepare(self, point: Point) -> None:
        """Makes the files that are read, and leaves of them in memory what the point says."""
        if point[OPERATION.name] == "write":
            self._delete("write")
            return
        missing = [path for path in self._files(point) if _size(path) < int(point[SIZE.name])]
        if missing:
            self._run(point, [*WHOLE_FILES, "--invalidate=0"])
        for path in self._files(point):
            _read(path) if point[CACHE.name] == "warm" else _forget(path)

    def measure(self, point: Point) -> FioResult:
        """Raises UserError where fio fails."""
        how = [*access(point), f"--runtime={self.seconds:g}", "--invalidate=0"]
        found = result(self._run(point, how), point, str(self.folder))
        if point[OPERATION.name] == "write":
            self._delete("write")
        return found

    def _files(self, point: Point) -> Iterator[Path]:
        for number in range(int(point[CLIENTS.name])):
            yield self.folder / f"{point[OPERATION.name]}.{number}"

    def _delete(self, operation: str) -> None:
        for path in self.folder.glob(f"{operation}.*"):
            path.unlink(missing_ok=True)

    def _run(self, point: Point, how: list[str]) -> Any:
        command = words(self.program, str(self.folder), point, how)
        hangs = f"fio hangs in {self.folder}"
        return answer(child.run(command, self.seconds + PATIENCE, hangs, self.folder))


def words(program: str, folder: str, point: Point, how: list[str]) -> list[str]:
    """The command line of fio for the clients of a point, each of which has a file of its own."""
    return [
        *(program, "--name=iostrata", "--output-format=json", "--thread"),
        *(f"--directory={folder}", f"--filename_format={point[OPERATION.name]}.$jobnum"),
        *(f"--numjobs={point[CLIENTS.name]}", f"--size={point[SIZE.name]}"),
        *(f"--direct={int(point[CACHE.name] == 'direct')}", "--norandommap"),
        *("--allow_file_create=1", "--fallocate=none", *how, *own(point)),
    ]


def own(point: Point) -> list[str]:
    """Options of fio that are dimensions."""
    return [
        f"--{name.removeprefix(FIO)}={value}"
        for name, value in point.items()
        if name.startswith(FIO)
    ]


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    """What fio says of a load; raises UserError where it failed."""
    if done.returncode:
        said = child.said(done)
        reason = next((line for line in said if "error" in line.lower()), said[-1])
        raise UserError(f"fio failed with {done.returncode}: {reason}", " ".join(done.args))
    return json.loads(done.stdout[done.stdout.index("{") :])


def result(done: Any, point: Point, folder: str) -> FioResult:
    """What a sample of a point moved, from fio's answer; raises UserError where that is nothing."""
    jobs, which = done["jobs"], str(point[OPERATION.name])
    nanos = max(job["job_runtime"] for job in jobs) * 1_000_000
    found = FioResult(sum(job[which]["io_bytes"] for job in jobs), nanos)
    if not found.nanos:
        raise UserError(
            f"a sample of {point_text(point, point)} takes less than 1 ms, as fio counts",
            "say larger sizes in dimensions.size",
        )
    if not found.bytes:
        raise UserError(f"fio moved nothing in {folder}", "is the storage well?")
    return found


def access(point: Point) -> list[str]:
    """How fio goes through a file."""
    write = point[OPERATION.name] == "write"
    how = [f"--bs={point[REQUEST.name]}", *(["--end_fsync=1"] if write else [])]
    way = str(point[ACCESS.name])
    if way == SEQUENTIAL:
        return [*how, f"--rw={point[OPERATION.name]}"]
    accesses, data = skew(way)
    how += [f"--rw=rand{point[OPERATION.name]}", f"--io_size={point[SIZE.name]}"]
    if accesses == data:
        return how
    zones = f"{accesses}/{data}:{100 - accesses}/{100 - data}"
    return [*how, f"--random_distribution=zoned:{zones}"]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDONLY)
    try:
        yield file
    finally:
        os.close(file)


def _forget(path: Path) -> None:
    """Its pages leave the memory of this host; those of other files stay."""
    with _opened(path) as file:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def _read(path: Path) -> None:
    with _opened(path) as file:
        while os.read(file, _PIECE):
            pass
