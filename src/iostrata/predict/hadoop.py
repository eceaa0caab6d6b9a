"""One sample of a point, on a file system of Hadoop: its own client reads or writes (S5.1).

A program of java/load runs as Hadoop's command says, once for each sample, as tasks do.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from iostrata.artifacts import load_jar
from iostrata.errors import UserError
from iostrata.predict import child
from iostrata.predict.dimensions import (
    ACCESS,
    CLIENTS,
    CONTAINERS,
    COPIES,
    OPERATION,
    REQUEST,
    SIZE,
    Point,
)
from iostrata.predict.fio import FioResult
from iostrata.predict.hosts import LoadHost

# hdfs://nn:8020/tmp, file:///mnt/x, s3a://bucket/x: a folder below the root.
FILESYSTEM = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/]*(/[^\s/]+)+/?")
_PATIENCE = 420.0  # s, beside what a sample may take: containers wait 240 for each other


@dataclass(frozen=True)
class HadoopSpace:
    """What is free on a file system, and how many copies it makes of a file: bytes."""

    free: int
    copies: int


@dataclass
class HadoopLoad:
    """Clients of Hadoop in a folder of their own; `seconds`: how long a sample takes at most."""

    program: str
    folder: str
    seconds: float
    host: LoadHost | None = None  # where clients run; None: here
    # bytes of the file of each client, by how many copies there are of it
    _made: dict[tuple[str, int], int] = field(default_factory=dict)

    def prepare(self, point: Point) -> None:
        """Makes the files that are read."""
        if point[OPERATION.name] == "write":
            return
        size, copies = int(point[SIZE.name]), _copies(point)
        clients = int(point[CLIENTS.name]) * int(point.get(CONTAINERS.name, 1))  # a host's own
        files = [(copies, client) for client in range(clients)]
        if any(self._made.get(file, 0) < size for file in files):
            words = (str(size), str(clients), copies)
            run(self.program, "prepare", self.folder, *words, host=self.host)
            self._made |= {file: max(size, self._made.get(file, 0)) for file in files}

    def measure(self, point: Point) -> FioResult:
        """Raises UserError where the client fails."""
        return self.result(child.finish(self.start(point), _PATIENCE, self._hangs), point)

    def start(self, point: Point) -> subprocess.Popen[str]:
        """Starts a sample of a point."""
        names = (OPERATION, ACCESS, SIZE, REQUEST, CLIENTS)
        words = [*(str(point[one.name]) for one in names), f"{self.seconds:g}", _copies(point)]
        words += [str(point[CONTAINERS.name])] if CONTAINERS.name in point else []
        whole = _command(self.program, "measure", self.folder, *words)
        return child.start(self.host.command(*whole) if self.host else whole)

    def result(self, done: subprocess.CompletedProcess[str], _: Point) -> FioResult:
        """What it moved; raises UserError."""
        found = _answer(done, self.folder)
        moved = FioResult(int(found["bytes"]), int(found["nanos"]))
        if not moved.bytes or not moved.nanos:
            raise UserError(f"nothing was moved in {self.folder}", "is the storage well?")
        return moved

    @property
    def _hangs(self) -> str:
        return f"{self.folder} does not answer"


def hadoop() -> str:
    """Where Hadoop's command is; raises UserError where there is none."""
    program = shutil.which("hadoop")
    if program is None:
        raise UserError(
            "hadoop is not on the PATH",
            'add its bin folder; of a lab: eval "$(iostrata lab env NAME)"',
        )
    return program


def space(folder: str) -> HadoopSpace:
    """Raises UserError where the folder above is not there, or its file system does not answer."""
    found = run(hadoop(), "space", folder)
    return HadoopSpace(int(found["free"]), int(found["copies"]))


@contextmanager
def hadoop_load(folder: str, seconds: float, host: LoadHost | None = None) -> Iterator[HadoopLoad]:
    """In a new folder, which is gone afterwards; one that was left by a killed session is deleted
    first.
    """
    program = hadoop()
    run(program, "begin", folder)
    try:
        # on another host, its own PATH says where Hadoop is
        yield HadoopLoad("hadoop" if host else program, folder, seconds, host)
    finally:
        run(program, "end", folder)


def run(program: str, action: str, folder: str, *words: str, host: LoadHost | None = None) -> Any:
    """What java/load answers; raises UserError with the reason of Hadoop."""
    command = _command(program, action, folder, *words)
    command = host.command(*command) if host else command
    return _answer(child.run(command, _PATIENCE, f"{folder} does not answer"), folder)


def _copies(point: Point) -> str:
    """0: as many as the file system makes."""
    return str(point.get(COPIES.name, 0))


def _command(program: str, action: str, folder: str, *words: str) -> list[str]:
    return [program, "jar", str(load_jar()), action, folder, *words]


def _answer(done: subprocess.CompletedProcess[str], folder: str) -> Any:
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        said = child.said(done)
        own = [line for line in said if line.startswith("iostrata: ")]
        reason = (own or said)[-1].removeprefix("iostrata: ")
        raise UserError(f"{folder}: {reason}", "is its file system reachable?") from None
