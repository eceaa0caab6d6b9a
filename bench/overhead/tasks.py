"""What tracing adds to a whole task: a JVM that starts, has its code compiled, works and ends.

One JVM with users' options runs WordCount over a local file (Hadoop's local runner), traced and
not, in pairs. This holds what switching on and off in a process leaves out: woven methods are
compiled too, each time a task starts. CPU is that of the JVM alone; the collector and the recorder
are not in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import stats
from bench.measure.cluster import IOSTRATA, TASK_JVM
from bench.measure.results import Results, say
from bench.measure.workloads import text
from bench.overhead.modes import Mode

from iostrata_lab.clusters.hadoop import jars

Row = dict[str, Any]
CPU_OF = Path(__file__).with_name("cpu_of.py")
MAIN = "org.apache.hadoop.examples.WordCount"


def measure(
    folder: Path, work: Path, modes: Sequence[Mode], sizes: Sequence[int], wanted: int
) -> Results:
    """Writes overhead-tasks.json: `wanted` pairs of each mode and size, in MB."""
    results = Results(folder, "overhead-tasks", {})
    java = ["java", *TASK_JVM.split(), "-cp", f"{jars.fetch(say)}/*", MAIN]
    for mode in modes:
        for size in sizes:
            have = len(results.having(mode=mode.name, megabytes=size))
            data = text(work, size)
            if have < wanted:
                cpu(java, data, None, work)  # jars and data into the page cache
            for number in range(have + 1, wanted + 1):
                row: Row = {"mode": mode.name, "megabytes": size, "number": number}
                both: list[tuple[str, Mode | None]] = [("traced_s", mode), ("plain_s", None)]
                for side, how in both if number % 2 else reversed(both):
                    row[side] = cpu(java, data, how, work)
                results.add([row])
                say(f"task {number} of {wanted}: {row}")
    results.conclude(found(results.runs))
    return results


def cpu(java: Sequence[str], data: Path, mode: Mode | None, work: Path) -> float:
    """CPU seconds of the JVM; ends the program if the job fails."""
    out, said = work / "task-words", work / "task-cpu"
    for folder in (out, work / "task-store"):
        shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, str(CPU_OF), str(said), *java, data.as_uri(), out.as_uri()]
    if mode:
        command = [*IOSTRATA, "record", "-q", "--private", *mode.present, "--", *command]
    done = subprocess.run(
        command,
        env={**os.environ, "IOSTRATA_STORE": str(work / "task-store")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return float(said.read_text("utf-8"))


def found(runs: Sequence[Row]) -> list[Row]:
    """By mode and size: seconds added to a JVM, and their share."""
    kinds = sorted({(run["mode"], run["megabytes"]) for run in runs})
    facts = []
    for mode, size in kinds:
        rows = [run for run in runs if (run["mode"], run["megabytes"]) == (mode, size)]
        facts.append(
            {
                "mode": mode,
                "megabytes": size,
                "plain_s": stats.mean([row["plain_s"] for row in rows]).facts(),
                "added_s": stats.mean([row["traced_s"] - row["plain_s"] for row in rows]).facts(),
                "added": stats.ratio([(row["traced_s"], row["plain_s"]) for row in rows]).facts(),
            }
        )
    return facts
