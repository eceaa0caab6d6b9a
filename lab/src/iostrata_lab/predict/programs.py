"""The programs of S5 that run on one machine, and what they read: it is made in memory, where they
are recorded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from iostrata.errors import UserError
from iostrata.predict import child
from iostrata_lab.predict import hbase, mariadb
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

LONGEST = 1800.0  # s of a program
PARAMETERS = (
    Parameter("text", "bytes that grep reads", 256 << 20, BYTES, low=1 << 20, scaled=True),
    Parameter("rows", "rows of the table, of some 250 bytes", 800_000, low=1000, scaled=True),
    Parameter("cells", "rows of the table of HBase, of 1 KB", 200_000, low=4000, scaled=True),
)
_WORDS, _LINES = 20_000, 30_000


@dataclass(frozen=True)
class ReadData:
    """What programs read: a file or folder. `make` has a folder for what is beside it, its own
    path, the values of parameters, and a seed; `space`: bytes that it takes while it is made.
    """

    make: Callable[[Path, Path, Mapping[str, Value], int], None]
    space: Callable[[Mapping[str, Value]], int]
    check: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class PredictedProgram:
    """A program that reads `data` (of DATA) on a storage.

    `command`: its words for the place of its data and a folder of its own; `point`: what
    `iostrata predict` is told of it; `paper`: the accuracy that S5 names, by kind of storage, if it
    does.
    """

    name: str
    figure: str
    data: str
    command: Callable[[Path, Path], list[str]]
    point: tuple[str, ...]
    paper: Mapping[str, float]

    def run(self, storage: Path, own: Path) -> None:
        """Runs it on a storage; raises UserError where it fails."""
        done = child.run(self.command(storage / self.data, own), LONGEST, f"{self.name} hangs")
        if done.returncode:
            raise UserError(f"{self.name} failed with {done.returncode}: {child.said(done)[0]}")


def _grep(*words: str) -> Callable[[Path, Path], list[str]]:
    # not to /dev/null, where grep stops at the first line that it finds
    return lambda data, _: ["grep", "-c", *words, str(data)]


def _make_text(_: Path, path: Path, values: Mapping[str, Value], seed: int) -> None:
    """Lines of words, of which one of 20,000 has a foo."""
    drawn, size = random.Random(seed), int(values["text"])
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(drawn.choices(letters, k=drawn.randint(2, 11))) for _ in range(_WORDS)]
    words[7] = "unfoothed"
    block = "".join(" ".join(drawn.choices(words, k=12)) + "\n" for _ in range(_LINES))
    with path.open("w") as out:
        written = 0
        while written < size:
            begin = block.index("\n", drawn.randrange(len(block) // 2)) + 1
            written += out.write(block[begin : begin + size - written])


DATA = {
    "text": ReadData(_make_text, lambda values: int(values["text"])),
    "table": ReadData(
        lambda own, path, values, _: mariadb.make(own, path, int(values["rows"])),
        # logs of MariaDB, and what every database has
        lambda values: int(values["rows"]) * mariadb.ROW + (256 << 20),
        mariadb.check,
    ),
    "regions": ReadData(
        lambda own, path, values, _: hbase.make(own, path, int(values["cells"])),
        # as it is flushed, and compacted
        lambda values: int(values["cells"]) * 3 * 1100 + (256 << 20),
        hbase.check,
    ),
}
PROGRAMS = (
    PredictedProgram(
        "grep",
        "Fig. 3",
        "text",
        _grep("foo"),
        ("cache=dropped",),
        {"local": 0.9, "distributed": 0.9},
    ),
    PredictedProgram(
        "grep that computes",
        "Fig. 3",
        "text",
        # without what compiles patterns, as every grep was in 2015: it computes at 20 MB/s
        _grep("-P", r"(*NO_JIT)\w*foo\w*"),
        ("cache=dropped",),
        {"local": 0.3, "distributed": 0.4},
    ),
    PredictedProgram(
        "table scan",
        "Fig. 4",
        "table",
        mariadb.scan,
        ("cache=direct",),  # InnoDB's own default
        {"local": 0.6, "distributed": 0.8},
    ),
    PredictedProgram(
        "HBase, 2 clients",
        "Fig. 6",
        "regions",
        partial(hbase.scans, clients=2, access="50-50"),
        ("cache=dropped",),
        {"local": 0.6, "distributed": 0.6},
    ),
    PredictedProgram(
        "HBase, 4 clients",
        "Fig. 6",
        "regions",
        partial(hbase.scans, clients=4, access="90-10"),
        ("cache=dropped",),
        {"local": 0.5, "distributed": 0.5},
    ),
    PredictedProgram(  # chosen when all else was done, and never tried before it was predicted
        "count of words",
        "Held out",
        "text",
        lambda data, _: ["wc", "-w", str(data)],
        ("cache=dropped",),
        {},
    ),
)


def _data_of(programs: Iterable[PredictedProgram]) -> list[str]:
    return sorted({one.data for one in programs})


def check(programs: Sequence[PredictedProgram]) -> None:
    """Raises UserError where one of them is not installed."""
    for data in _data_of(programs):
        DATA[data].check()


def space(programs: Sequence[PredictedProgram], values: Mapping[str, Value]) -> int:
    """Bytes that their data take, while they are made."""
    return sum(DATA[data].space(values) for data in _data_of(programs))


def make(
    programs: Sequence[PredictedProgram], memory: Path, values: Mapping[str, Value], seed: int
) -> None:
    """Makes what they read in an empty folder."""
    for data in _data_of(programs):
        DATA[data].make(memory, memory / data, values, seed)
