"""What tracing adds to the start of a JVM of Hadoop, and what recording itself takes.

The JVM has users' options and loads the classes that a task has loaded, by name: all weaving is in
it, and that every class is looked at. It records, but has nothing to record. The recorder is
measured around a command that does nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import stats, workloads
from bench.measure.cluster import IOSTRATA, TASK_JVM, TASKS, Observer, Side
from bench.measure.results import Results, say
from bench.startup.startup import control_page

from iostrata.artifacts import stage_agent
from iostrata_lab.clusters import AgentOptions
from iostrata_lab.clusters.hadoop import jars

Row = dict[str, Any]
HERE = Path(__file__).parent
LOADED = re.compile(r"^(?:\[[^\]]*\])+ ([\w.$]+) source: ", re.M)


def measure(folder: Path, work: Path, wanted: int) -> Results:
    results = Results(folder, "overhead-starts", {})
    lib = jars.fetch(say)
    classes, names = work / "start-classes", work / "start-names"
    path = f"{lib}/*"
    subprocess.run(["javac", "-d", str(classes), str(HERE / "StartUp.java")], check=True)
    java = ["java", *TASK_JVM.split(), "-cp", f"{classes}:{path}", "StartUp", str(names)]
    have = len(pairs(results.runs))
    if have < wanted:
        loaded = classes_of_a_task(work)
        say(f"a task loads {len(loaded)} classes")
        names.write_text("".join(f"{name}\n" for name in loaded), "utf-8")
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="iostrata-bench-") as shm:
        directory = Path(shm)
        (directory / "control").write_bytes(control_page(True))
        agent = AgentOptions(jar=stage_agent(directory), dir=directory).option
        traced = [java[0], *agent.split(), *java[1:]]
        if have < wanted:
            cpu(java, work)  # jars into the page cache
        for number in range(have + 1, wanted + 1):
            row: Row = {"number": number}
            both = [("plain_s", java), ("traced_s", traced)]
            for side, command in both if number % 2 else reversed(both):
                row[side] = cpu(command, work)
            shutil.rmtree(directory / str(os.getuid()), ignore_errors=True)
            row["recorder_s"] = cpu([*IOSTRATA, "record", "-q", "--private", "--", "true"], work)
            results.add([row])
            say(f"start {number} of {wanted}: {row}")
    added = stats.mean([traced - plain for traced, plain in pairs(results.runs)])
    recorder = stats.mean([run["recorder_s"] for run in results.runs])
    results.conclude({"start_s": added.facts(), "recorder_s": recorder.facts()})
    return results


def classes_of_a_task(work: Path) -> list[str]:
    """Names in the order of loading, of the task of a small WordCount that loads most."""
    logs = work / "loaded"
    logs.mkdir(exist_ok=True)
    options = f"{TASK_JVM} -Xlog:class+load:file={logs}/%p.log::filecount=0"
    observer = Observer("classes", properties=dict.fromkeys(TASKS, options))
    with Side(observer, work, "starts", 1) as side:
        side.measure(workloads.wordcount(1), 0)
    found = [LOADED.findall(path.read_text("utf-8")) for path in logs.glob("*.log")]
    if not any(found):
        sys.exit(f"no task wrote what it loaded into {logs}")
    return max(found, key=len)


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
