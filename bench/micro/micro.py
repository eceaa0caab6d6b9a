#!/usr/bin/env python3
"""CPU ns that tracing adds to one read, split into clock, target lookup and append.

    bench/micro/micro.py bench/runs/2026-11-21-micro
    bench/micro/micro.py FOLDER --hdfs hdfs://127.0.0.1:8020/file --hadoop 'CONF:LIB/*'

Runs Micro.java three times each, interleaved: plain, with the agent loaded but off, and under
`iostrata record` with the collector draining; reads of 1 byte and 4 KiB, one and two threads, 16
distinct open streams a thread. Writes every case of every run into micro-file.json or
micro-hdfs.json of the folder. Prints medians; a figure is the difference of two of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
AGENT = ROOT / "java/agent/target/iostrata-agent.jar"
CLASSES = f"{ROOT}/java/agent/target/classes:{ROOT}/java/segment/target/classes"
IOSTRATA = ROOT / ".venv/bin/iostrata"
STREAMS = 16
Case = dict[str, Any]


def compile_to(work: Path) -> None:
    source = ROOT / "bench/micro/Micro.java"
    subprocess.run(["javac", "-cp", CLASSES, "-d", work, source], check=True)


def cases_of(command: list[str], environment: dict[str, str], name: str) -> list[Case]:
    """The JSON lines among what the command printed."""
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()}")
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return [{"run": name, **json.loads(line)} for line in lines]


def measure(work: Path, kind: str, place: str, classpath: str, runs: int) -> list[Case]:
    off = work / "off"
    off.mkdir()
    environment = {**os.environ, "IOSTRATA_STORE": str(work / "store")}
    java = ["java", "-Xmx512m", "-cp", f"{work}:{classpath}" if classpath else str(work)]
    ready = ["java", f"-javaagent:{AGENT}=dir={off}", *java[1:]]
    found: list[Case] = []
    for _ in range(runs):
        for size in (1, 4096):
            for threads in (1, 2):
                what = ["Micro", kind, place, str(threads), str(size), str(STREAMS)]
                found += cases_of([*java, *what], environment, "plain")
                found += cases_of([*ready, *what], environment, "off")
                found += cases_of(
                    [str(IOSTRATA), "record", "--", *java, *what], environment, "recorded"
                )
    return found


def median(found: list[Case], run: str, name: str, threads: int, size: int) -> float:
    return statistics.median(
        case["ns"]
        for case in found
        if (case["run"], case["threads"], case["size"]) == (run, threads, size)
        and case["case"] == name
    )


def report(found: list[Case], kind: str) -> None:
    read = f"{kind} read"
    for size in (1, 4096):
        for threads in (1, 2):
            at = (threads, size)
            plain = median(found, "plain", read, *at)
            clock = median(found, "recorded", "clock", *at)
            bare = median(found, "recorded", "hooks without target", *at)
            lookup = median(found, "recorded", "hooks", *at) - bare
            print(
                f"{read} of {size} B, {threads} thread(s): {plain:.0f} ns, "
                f"off {median(found, 'off', read, *at) - plain:+.1f}, "
                f"recorded {median(found, 'recorded', read, *at) - plain:+.1f} = "
                f"clock {clock:.1f}, lookup {lookup:.1f}, append {bare - clock:.1f} (hooks alone)"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--hdfs", help="URI of a file of 1 MiB or more, read instead of local files"
    )
    parser.add_argument("--hadoop", default="", help="class path: configuration and jars")
    arguments = parser.parse_args()
    kind = "hdfs" if arguments.hdfs else "file"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        work = Path(name)
        compile_to(work)
        place = arguments.hdfs or str(work)
        found = measure(work, kind, place, arguments.hadoop, arguments.runs)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {
            "command": ["bench/micro/micro.py", *sys.argv[1:]],
            "cpus": os.cpu_count(),
            "cases": found,
        },
        indent=1,
    )
    (arguments.folder / f"micro-{kind}.json").write_text(text + "\n", "utf-8")
    report(found, kind)
    return 0


if __name__ == "__main__":
    sys.exit(main())
