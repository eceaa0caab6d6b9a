#!/usr/bin/env python3
"""CPU of a task's JVM by thread, traced and not: what its own threads take, and its compilers.

    bench/micro/threads.py FOLDER
    bench/micro/threads.py FOLDER --before CLONE    and with an older build, in turns

WordCount in one JVM (Hadoop's local runner) under `perf record`, which samples where each thread
is. Writes every run into FOLDER/threads.json, prints means and ranges. Needs `perf` and a machine
that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure.cluster import TASK_JVM  # noqa: E402
from bench.measure.results import Results, say  # noqa: E402
from bench.measure.workloads import text  # noqa: E402
from bench.overhead.tasks import MAIN  # noqa: E402

from iostrata_lab.clusters.hadoop import jars  # noqa: E402

Row = dict[str, Any]
HERTZ = 997
LEAST = 0.2  # CPU seconds of a thread worth a line


def run(build: Path | None, java: Sequence[str], work: Path) -> dict[str, float]:
    """CPU seconds by thread of one JVM; `build`: whose iostrata records it, None: nobody's."""
    out, store, samples = work / "out", work / "store", work / "perf.data"
    for folder in (out, store):
        shutil.rmtree(folder, ignore_errors=True)
    perf = ["perf", "record", "-q", "-F", str(HERTZ), "-e", "cpu-clock", "-o", str(samples), "--"]
    command = [*perf, *java, out.as_uri()]
    if build is not None:
        command = [str(build / ".venv/bin/iostrata"), "record", "-q", "--private", "--", *command]
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    script = ["perf", "script", "-i", str(samples), "-F", "comm"]
    said = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    threads = Counter(line.strip() for line in said.splitlines() if line.strip())
    return {name: round(count / HERTZ, 3) for name, count in threads.most_common()}


def report(runs: Sequence[Row]) -> None:
    """Mean and range over the rounds by build and thread."""
    builds = list(dict.fromkeys(row["build"] for row in runs))
    names = list(dict.fromkeys(name for row in runs for name in row["threads"]))
    for name in ("all", *names):
        line = []
        for build in builds:
            taken = [
                sum(row["threads"].values()) if name == "all" else row["threads"].get(name, 0.0)
                for row in runs
                if row["build"] == build
            ]
            mean = sum(taken) / len(taken)
            line.append((mean, f"{build} {mean:6.2f} ({min(taken):.2f} to {max(taken):.2f})"))
        if max(line)[0] >= LEAST:
            print(f"{name:16} {'   '.join(words for _, words in line)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", type=Path, help="a clone of an older version, set up and built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=64)
    given = parser.parse_args()
    builds = {"plain": None, "now": ROOT} | ({"before": given.before} if given.before else {})
    settings = {"megabytes": given.megabytes, "jvm": TASK_JVM, "builds": list(builds)}
    results = Results(given.folder, "threads", settings)
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        data = text(work, given.megabytes)
        java = ["java", *TASK_JVM.split(), "-cp", f"{jars.fetch(say)}/*", MAIN, data.as_uri()]
        for number in range(len(results.runs) // len(builds), given.rounds):
            rows = [
                {"round": number, "build": name, "threads": run(build, java, work)}
                for name, build in builds.items()
            ]
            results.add(rows)
            say(f"round {number + 1} of {given.rounds}")
    report(results.runs)


if __name__ == "__main__":
    main()
