"""The single programs of S5, and what they read: it is made in memory, where they are recorded."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostrata.errors import UserError
from iostrata.predict import child
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

LONGEST = 1800.0  # s of a program
PARAMETERS = (
    Parameter("text", "bytes that grep reads", 256 << 20, BYTES, low=1 << 20, scaled=True),
    Parameter("rows", "rows of the table, of some 250 bytes", 2_000_000, low=1000, scaled=True),
)
_WORDS, _LINES = 20_000, 30_000
_ROW = 300  # bytes in a table, with what InnoDB adds
_PACKAGES = "apt-get install --no-install-recommends mariadb-server-core mariadb-client-core"
# The server starts, answers one query, and ends.
_QUERY = """
set -e
mariadbd --no-defaults --user=root --datadir="$1" --socket="$2" --pid-file="$2.pid" \\
    --skip-networking --innodb-buffer-pool-size=64M --innodb-buffer-pool-load-at-startup=0 \\
    --innodb-buffer-pool-dump-at-shutdown=0 2> "$2.log" &
server=$!
trap 'kill -KILL $server 2> "$2.end" || true' EXIT
until mariadb --no-defaults --socket="$2" -e "SELECT 1" > "$2.end" 2>&1; do
    kill -0 $server 2> "$2.end" || { grep ERROR "$2.log" | head -n 1 >&2; exit 1; }
    sleep 0.05
done
mariadb --no-defaults --socket="$2" -e "$3"
kill $server
wait $server
"""
_FILL = (
    "CREATE DATABASE test; CREATE TABLE test.facts (id INT PRIMARY KEY, number INT, "
    "text VARCHAR(255)) ENGINE=InnoDB; USE test; INSERT INTO facts "
    "SELECT seq, seq % 1000, CONCAT(REPEAT(MD5(seq), 7), seq) FROM seq_1_to_{rows}"
)
_SCAN = "SELECT SUM(LENGTH(text)), SUM(number) FROM test.facts"


@dataclass(frozen=True)
class PredictedProgram:
    """A program that reads `data` (a file or folder, `Data`) on a storage.

    `command`: its words for the place of its data and a folder for its socket; `point`: what
    `iostrata predict` is told of it; `paper`: the accuracy that S5 names, by kind of storage.
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


def _scan(data: Path, own: Path) -> list[str]:
    return ["bash", "-c", _QUERY, "-", str(data), str(own / "socket"), _SCAN]


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
        _scan,
        ("cache=direct",),  # InnoDB's own default
        {"local": 0.6, "distributed": 0.8},
    ),
)


def check(programs: Sequence[PredictedProgram]) -> None:
    """Raises UserError where one of them is not installed."""
    needed = {"mariadbd", "mariadb", "mariadb-install-db"}
    if any(one.data == "table" for one in programs):
        missing = sorted(name for name in needed if not shutil.which(name))
        if missing:
            raise UserError(f"{', '.join(missing)}: not installed", _PACKAGES)


def space(programs: Sequence[PredictedProgram], values: Mapping[str, Value]) -> int:
    """Bytes that their data take."""
    logs = 256 << 20  # of MariaDB, and what every database has
    takes = {"text": int(values["text"]), "table": int(values["rows"]) * _ROW + logs}
    return sum(takes[data] for data in {one.data for one in programs})


def make(
    programs: Sequence[PredictedProgram], memory: Path, values: Mapping[str, Value], seed: int
) -> None:
    """Makes what they read in an empty folder."""
    for data in {one.data for one in programs}:
        if data == "text":
            _make_text(memory / data, int(values["text"]), seed)
        else:
            _make_table(memory, int(values["rows"]))


def _make_text(path: Path, size: int, seed: int) -> None:
    """Lines of words, of which one of 20,000 has a foo."""
    drawn = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(drawn.choices(letters, k=drawn.randint(2, 11))) for _ in range(_WORDS)]
    words[7] = "unfoothed"
    block = "".join(" ".join(drawn.choices(words, k=12)) + "\n" for _ in range(_LINES))
    with path.open("w") as out:
        written = 0
        while written < size:
            begin = block.index("\n", drawn.randrange(len(block) // 2)) + 1
            written += out.write(block[begin : begin + size - written])


def _make_table(memory: Path, rows: int) -> None:
    folder = memory / "table"
    folder.mkdir()
    install = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder}"]
    fill = ["bash", "-c", _QUERY, "-", str(folder), str(memory / "socket"), _FILL.format(rows=rows)]
    for words in ([*install, "--skip-test-db"], fill):
        done = child.run(words, LONGEST, f"{words[0]} hangs")
        if done.returncode:
            raise UserError(f"{words[0]} failed with {done.returncode}: {child.said(done)[0]}")
