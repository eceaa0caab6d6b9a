#!/usr/bin/env python3
"""Time of analyses of foreign traces, here and by the tools that wrote them.

    bench/importers/importers.py bench/runs/2026-11-23-importers [--rounds 5]
        [--dftracer FOLDER] [--stats PROGRAM]

Darshan: the log with DXT that comes with the package `darshan`. Sides: the import; `summary --json`
of what was imported; operations, sizes and patterns of it in one process; pydarshan's own summary
(`python -m darshan summary`), and its reading of all records and segments into data frames.
DFTracer: a folder of .pfw.gz files. Sides: the same three, and `dftracer_stats` of its own tools,
which indexes a trace and gives calls and times by name (its analyzer, 0.0.9, does not start with
the dftracer-utils 0.0.14 that belongs to it on PyPI).
Each round runs every side once, in turned order. Writes runs.json (wall and CPU seconds of each
process with its children) into the folder, and prints medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ANALYSES = """
import sys
from pathlib import Path
from iostrata.analyse.engine import DuckDb
from iostrata.analyse.patterns import patterns
from iostrata.analyse.sizes import sizes
from iostrata.analyse.totals import by_operation
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run
with OpenedRun(find_run(Path(sys.argv[1]), sys.argv[2])) as opened:
    for analysis in (by_operation(), sizes(), patterns()):
        print(len(DuckDb(opened).records(analysis, dict)))
"""
PYDARSHAN = """
import sys, warnings
warnings.simplefilter("ignore")
import darshan
report = darshan.DarshanReport(sys.argv[1], read_all=True)
for module in report.records:
    if module.startswith("DXT"):
        report.mod_read_all_dxt_records(module, dtype="pandas")
    if hasattr(report.records[module], "to_df"):
        print(module, len(report.records[module].to_df()))
"""
Sides = dict[str, list[str]]


def sides(name: str, files: list[Path], scratch: Path) -> Sides:
    """Commands of ours; the import makes a run of another name each time, NUMBER in its place."""
    iostrata = [sys.executable, "-m", "iostrata"]
    store = ["--store", str(scratch)]
    listed = [str(path) for path in files]
    subprocess.run([*iostrata, "import", *listed, *store, "--run", name], check=True)
    return {
        "import": [*iostrata, "import", *listed, *store, "--run", f"{name}-NUMBER"],
        "summary": [*iostrata, "summary", name, *store, "--json"],
        "analyses": [sys.executable, "-c", ANALYSES, str(scratch), name],
    }


def measured(command: list[str]) -> dict[str, float]:
    """Wall and CPU seconds of a process that must succeed."""
    begun = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)[:200]} failed: {child.returncode}")
    return {"wall": time.monotonic() - begun, "cpu": used.ru_utime + used.ru_stime}


def compare(trace: str, all_sides: Sides, rounds: int) -> list[dict[str, Any]]:
    """The runs of a trace, interleaved."""
    runs = []
    for number in range(1, rounds + 1):
        names = list(all_sides)
        for side in names if number % 2 else reversed(names):
            command = [word.replace("NUMBER", str(number)) for word in all_sides[side]]
            runs.append({"trace": trace, "round": number, "side": side, **measured(command)})
            print(f"{trace} {number} {side}: {runs[-1]['cpu']:.2f} s of CPU", flush=True)
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dftracer", type=Path)
    parser.add_argument("--stats")
    options = parser.parse_args()
    found = find_spec("darshan")
    if found is None or found.origin is None:
        raise SystemExit("pip install darshan")
    log = Path(found.origin).parent / "examples/example_logs/dxt.darshan"
    scratch = Path(tempfile.mkdtemp())
    os.chdir(scratch)
    try:
        theirs = {
            "pydarshan summary": [
                *(sys.executable, "-m", "darshan", "summary", str(log)),
                *("--output", str(scratch / "report.html")),
            ],
            "pydarshan data frames": [sys.executable, "-c", PYDARSHAN, str(log)],
        }
        runs = compare("darshan", sides("darshan", [log], scratch) | theirs, options.rounds)
        if options.dftracer:
            files = sorted(options.dftracer.absolute().glob("*.pfw.gz"))
            ours = sides("dftracer", files, scratch)
            if options.stats:
                index = ["--index-dir", f"{scratch}/NUMBER.index"]
                report = ["--json", "--report", "detailed", "--group-by", "name"]
                where = ["-d", str(options.dftracer.absolute())]
                ours["dftracer_stats"] = [options.stats, *where, *index, *report]
            runs += compare("dftracer", ours, options.rounds)
    finally:
        os.chdir("/")
        shutil.rmtree(scratch, ignore_errors=True)
    made = {"python": platform.python_version(), "darshan": version("darshan"), "runs": runs}
    folder = Path(__file__).parents[2] / options.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runs.json").write_text(json.dumps(made, indent=1) + "\n")
    for trace, side in dict.fromkeys((run["trace"], run["side"]) for run in runs):
        cpu = [run["cpu"] for run in runs if (run["trace"], run["side"]) == (trace, side)]
        low, high = min(cpu), max(cpu)
        print(f"{trace:9} {side:22} {statistics.median(cpu):7.2f} s of CPU ({low:.2f}–{high:.2f})")


if __name__ == "__main__":
    main()
