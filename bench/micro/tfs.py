#!/usr/bin/env python3
"""ns that tfs:// adds to a read of 64 bytes of a local file, by how the JVM runs it.

    bench/micro/tfs.py FOLDER [--rounds 5]

Runs TfsReads.java on file:///, on tfs://file@/ where nobody collects, at the default and with
every call recorded individually (`--budget off`), interpreted, with the first compiler and with
both, in turns. Writes every run into FOLDER/tfs.json and prints medians with their range.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from bench.measure.results import Results, say  # noqa: E402

from iostrata.artifacts import tfs_jar  # noqa: E402
from iostrata_lab.clusters.hadoop import jars  # noqa: E402

CALLS = {"interpreted": 20_000, "first compiler": 300_000, "both compilers": 1_000_000}
FLAGS = {
    "interpreted": "-Xint",
    "first compiler": "-XX:TieredStopAtLevel=1",
    "both compilers": "-XX:+TieredCompilation",
}
RECORD = (sys.executable, "-m", "iostrata", "record", "--private", "--quiet")
# Where to write to stands in the agent's option, which the program does without.
WITHOUT_AGENT = (
    "D=${JAVA_TOOL_OPTIONS##*dir=}; R=${JAVA_TOOL_OPTIONS##*run=}; unset JAVA_TOOL_OPTIONS; "
    'exec "$@" "${D%%,*}" "${R%%,*}"'
)
DETAIL = {"default": (), "all calls": ("--budget", "off")}
Run = dict[str, Any]


def commands(folder: Path) -> dict[tuple[str, str], list[str]]:
    """By how it is run and what is measured."""
    path = f"{folder}:{tfs_jar()}:{jars.fetch(say)}/*"
    found = {}
    for mode, calls in CALLS.items():
        java = ["java", FLAGS[mode], "-cp", path, "TfsReads"]
        file = [str(folder / "file"), str(calls)]
        found[mode, "bare"] = [*java, "file:///", *file, "/dev/shm/none", "r"]
        found[mode, "nobody"] = [*java, "tfs://file@/", *file, "/dev/shm/none", "r"]
        traced = ["bash", "-c", WITHOUT_AGENT, "-", *java, "tfs://file@/", *file]
        for detail, options in DETAIL.items():
            found[mode, detail] = [*RECORD, *options, "--store", str(folder), "--", *traced]
    return found


def ns(command: list[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def lines(runs: list[Run]) -> list[str]:
    """One for each thing that was measured: its median and range over the bare one."""
    shown = []
    for mode in CALLS:
        own = [run for run in runs if run["mode"] == mode]
        bare = statistics.median(run["ns"] for run in own if run["what"] == "bare")
        shown.append(f"{mode}: bare {bare:.0f} ns")
        for what in ("nobody", *DETAIL):
            added = [run["ns"] - bare for run in own if run["what"] == what]
            shown.append(
                f"  {what:10} +{statistics.median(added):.0f} ns "
                f"({min(added):.0f} to {max(added):.0f}, n = {len(added)})"
            )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    results = Results(given.folder, "tfs", {"calls": CALLS, "rounds": given.rounds})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "file").write_bytes(b"x" * 1000)
        source = str(ROOT / "bench/micro/TfsReads.java")
        path = f"{jars.fetch(say)}/*"
        subprocess.run(["javac", "-cp", path, "-d", made, source], check=True)
        found = commands(folder)
        for number in range(len(results.runs) // len(found), given.rounds):
            took = {key: ns(command) for key, command in found.items()}
            results.add(
                {"round": number, "mode": mode, "what": what, "ns": it}
                for (mode, what), it in took.items()
            )
    results.conclude(lines(results.runs))
    say("\n".join(lines(results.runs)))


if __name__ == "__main__":
    main()
