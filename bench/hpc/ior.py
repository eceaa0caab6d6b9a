#!/usr/bin/env python3
"""Does a recording say the same as IOR of itself, rank by rank and operation by operation?

    bench/hpc/ior.py FOLDER --ior PATH [--mpiexec "mpiexec -n 4"]

Runs a real IOR (built by hand of its published sources) with its interfaces POSIX, MPI-IO and,
where it has it, HDF5: one file of all ranks, in segments and in strides, and one file a rank. IOR
is asked to save what it measures of each operation (`savePerOpDataCSV`), and its layout says where
each of them begins. Operations, bytes and, but of HDF5, places of each rank must be equal, and the
time of its operations a part of what IOR measures around them. Writes FOLDER/ior.json; ends with 1
where anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure.results import Results, say  # noqa: E402

IOSTRATA = str(ROOT / ".venv/bin/iostrata")
RANKS = 4
TRANSFER = 64 << 10
# Blocks of a rank, and segments: one block of each rank after the other, so many times.
LAYOUTS = {
    "segmented": (16 * TRANSFER, 4),
    "strided": (TRANSFER, 64),
    "file a rank": (TRANSFER, 64),
}
# The layer in which the interface is called, and IOR's options for it.
INTERFACES = {
    "POSIX": ("posix", ("-a", "POSIX")),
    "MPI-IO": ("fs", ("-a", "MPIIO")),
    "MPI-IO, collective": ("fs", ("-a", "MPIIO", "-c")),
    "HDF5": ("record", ("-a", "HDF5")),
}
OPS = {"write": "-w", "read": "-r"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One call of IOR."""

    interface: str
    layout: str
    op: str

    @property
    def layer(self) -> str:
        return INTERFACES[self.interface][0]

    def options(self, folder: Path) -> list[str]:
        block, segments = LAYOUTS[self.layout]
        alone = ["-F"] if self.layout == "file a rank" else []
        sizes = ["-t", str(TRANSFER), "-b", str(block), "-s", str(segments), "-k", "-E"]
        saved = ["-O", f"savePerOpDataCSV={folder}/{self.op}"]
        words = [*INTERFACES[self.interface][1], OPS[self.op], *sizes, *alone, *saved]
        return [*words, "-o", str(folder / "data")]

    def offsets(self, rank: int) -> Counter[int]:
        """Where the operations of a rank begin, by IOR's layout."""
        block, segments = LAYOUTS[self.layout]
        alone = self.layout == "file a rank"
        stride, first = (block, 0) if alone else (block * RANKS, rank * block)
        places = range(0, block, TRANSFER)
        return Counter(first + s * stride + place for s in range(segments) for place in places)


def cases(has_hdf5: bool) -> Iterator[Case]:
    for interface in INTERFACES:
        for layout in LAYOUTS:
            if interface != "HDF5" or has_hdf5:
                yield from (Case(interface, layout, op) for op in OPS)


def recorded(case: Case, run: str, store: Path, folder: Path) -> dict[int, Row]:
    """What was recorded of each rank: operations, bytes, offsets, and ns in them."""
    sql = (
        f"SELECT task, \"offset\" AS at, bytes, dur FROM calls WHERE layer = '{case.layer}' "
        f"AND op = '{case.op}' AND starts_with(target, '{folder}/data')"
    )
    words = [IOSTRATA, "query", "--store", str(store), "--run", run, sql, "--format", "json"]
    rows = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    found: dict[int, Row] = {
        rank: {"operations": 0, "bytes": 0, "ns": 0, "at": Counter()} for rank in range(RANKS)
    }
    for row in rows:
        one = found[int(row["task"].removeprefix("rank "))]
        one["operations"] += 1
        one["bytes"] += row["bytes"]
        one["ns"] += row["dur"]
        one["at"][row["at"]] += 1
    return found


def said(case: Case, rank: int, folder: Path) -> Row:
    """What IOR saved of a rank."""
    lines = (folder / f"{case.op}-0-{rank:05}.csv").read_text().splitlines()[1:]
    seconds = [float(line.split(",")[1]) for line in lines]
    return {"operations": len(seconds), "ns": round(sum(seconds) * 1e9)}


def compare(case: Case, run: str, store: Path, folder: Path) -> Row:
    found = recorded(case, run, store, folder)
    own = {rank: said(case, rank, folder) for rank in range(RANKS)}
    has_places = case.layer != "record"  # HDF5 has a layout of its own
    equal = all(
        one["operations"] == own[rank]["operations"]
        and one["bytes"] == own[rank]["operations"] * TRANSFER
        and (not has_places or one["at"] == case.offsets(rank))
        and one["ns"] <= own[rank]["ns"]
        for rank, one in found.items()
    )
    total = sum(one["ns"] for one in found.values()) / sum(one["ns"] for one in own.values())
    return {
        **vars(case),
        "operations": sum(one["operations"] for one in own.values()),
        "bytes": sum(one["bytes"] for one in found.values()),
        "places": has_places,
        "equal": equal,
        "recorded of IOR's time": round(total, 4),
        "ranks": [
            {"said": own[rank], "recorded": {k: v for k, v in one.items() if k != "at"}}
            for rank, one in found.items()
        ],
    }


def lines(runs: list[Row]) -> list[str]:
    head = "| interface | layout | | operations | equal | of IOR's time |"
    return [
        head,
        "|---|---|---|---:|---|---:|",
        *(
            f"| {run['interface']} | {run['layout']} | {run['op']} | {run['operations']} | "
            f"{'yes' if run['equal'] else 'NO'}{'' if run['places'] else ', but for places'} | "
            f"{run['recorded of IOR' + chr(39) + 's time']:.1%} |"
            for run in runs
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ior", type=Path, required=True)
    parser.add_argument("--mpiexec", default=f"mpiexec -n {RANKS}", help="how ranks are started")
    given = parser.parse_args()
    ior = str(given.ior.resolve())
    has = subprocess.run([ior, "-h"], capture_output=True, text=True, check=False).stdout
    results = Results(given.folder, "ior", {"ranks": RANKS, "transfer": TRANSFER})
    done = {(run["interface"], run["layout"], run["op"]) for run in results.runs}
    with tempfile.TemporaryDirectory() as made:
        store = Path(made) / "store"
        for number, case in enumerate(cases("HDF5" in has)):
            folder = Path(made) / re.sub("[^a-zA-Z5]", "-", f"{case.interface}-{case.layout}")
            folder.mkdir(exist_ok=True)
            command = [*shlex.split(given.mpiexec), ior, *case.options(folder)]
            options = ["--native", "--private", "--quiet", "--budget", "off", "--store", str(store)]
            words = [IOSTRATA, "record", *options, "--run", f"r{number}", "--", *command]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            if (case.interface, case.layout, case.op) not in done:
                results.add([compare(case, f"r{number}", store, folder)])
                say(lines(results.runs)[-1])
    results.conclude(lines(results.runs))
    print("\n".join(lines(results.runs)))
    sys.exit(not all(run["equal"] for run in results.runs))


if __name__ == "__main__":
    main()
