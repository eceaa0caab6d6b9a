"""What tracing adds to the start of a JVM of Hadoop, and what recording itself takes.

The JVM has users' options and loads every class that a task may have traced, so that all weaving
is in it; recording, but with nothing to record. A task loads fewer of them: the figure errs to
the dear side. The recorder is measured around a command that does nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import stats
from bench.measure.cluster import IOSTRATA, TASK_JVM
from bench.measure.results import Results, say
from bench.startup.startup import control_page

from iostrata.lab import AgentOptions, jars
from iostrata.record.artifacts import stage_agent
from iostrata.schema.points import POINTS

Row = dict[str, Any]
HERE = Path(__file__).parent
OF_A_TASK = ("record", "task", "fs", "hdfs", "rpc", "java")


def measure(folder: Path, work: Path, wanted: int) -> Results:
    results = Results(folder, "overhead-starts", {})
    lib = jars.fetch(say)
    classes, names = work / "start-classes", work / "start-names"
    path = f"{lib}/*"
    subprocess.run(["javac", "-d", str(classes), str(HERE / "StartUp.java")], check=True)
    names.write_text("".join(f"{p.cls}\n" for p in POINTS if p.layer in OF_A_TASK), "utf-8")
    java = ["java", *TASK_JVM.split(), "-cp", f"{classes}:{path}", "StartUp", str(names)]
    have = len(pairs(results.runs))
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="iostrata-bench-") as shm:
        directory = Path(shm)
        (directory / "control").write_bytes(control_page(True))
        agent = AgentOptions(jar=stage_agent(directory), dir=directory).option
        traced = [java[0], *agent.split(), *java[1:]]
        if have < wanted:
            cpu(java, work)  # jars into the page cache
        for number in range(have + 1, wanted + 1):
            row = {"number": number, "plain_s": cpu(java, work), "traced_s": cpu(traced, work)}
            shutil.rmtree(directory / str(os.getuid()), ignore_errors=True)
            row["recorder_s"] = cpu([*IOSTRATA, "record", "-q", "--private", "--", "true"], work)
            results.add([row])
            say(f"start {number} of {wanted}: {row}")
    added = stats.mean([traced - plain for traced, plain in pairs(results.runs)])
    recorder = stats.mean([run["recorder_s"] for run in results.runs])
    results.conclude({"start_s": added.facts(), "recorder_s": recorder.facts()})
    return results


def pairs(runs: list[Row]) -> list[tuple[float, float]]:
    return [(run["traced_s"], run["plain_s"]) for run in runs]


def cpu(command: list[str], work: Path) -> float:
    """CPU seconds of a command and its children; ends the program if it fails."""
    output = work / "start-output"
    with output.open("wb") as sink:
        child = subprocess.Popen(
            command,
            stdout=sink,
            stderr=sink,
            env={**os.environ, "IOSTRATA_STORE": str(work / "start-store")},
        )
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if status:
        said = output.read_text("utf-8", errors="replace")
        sys.exit(f"{' '.join(command)}: exit {child.returncode}\n{said[-2000:]}")
    return round(usage.ru_utime + usage.ru_stime, 4)
