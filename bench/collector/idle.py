#!/usr/bin/env python3
"""What a collector costs that has no process to drain: idle, and while a run records.

    bench/collector/idle.py bench/runs/2026-11-21-2core-x86_64/idle.json

The run is this script's own and does nothing, so the difference is what a run costs by itself:
looking for its processes, its progress, and a sample of the host a second. IOSTRATA_NATIVE names
another binary to compare with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from iostrata.artifacts import native_binary
from iostrata.record import protocol
from iostrata.record.collector import Collector, collector_of

SECONDS = 30
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_share(pid: int) -> float:
    """Share of a core that a process takes in the next SECONDS."""

    def used() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    begin, before = time.monotonic(), used()
    time.sleep(SECONDS)
    return (used() - before) / (time.monotonic() - begin)


def started(directory: Path) -> Collector:
    for _ in range(500):
        collector = collector_of(directory)
        if collector:
            return collector
        time.sleep(0.02)
    sys.exit(f"no collector in {directory}")


def measure(directory: Path, work: Path) -> dict[str, float]:
    options = ["--dir", str(directory), "--store", str(work / "store")]
    command = [str(native_binary()), "collect", *options, "--spool", str(work / "spool")]
    process = subprocess.Popen(command)
    try:
        collector = started(directory)
        idle = cpu_share(process.pid)
        protocol.announce(collector, "r", ["nothing"])
        if protocol.wait_for(collector, "r", ("recording",), 10.0) is None:
            sys.exit("the run did not begin")
        return {"seconds": SECONDS, "idle": idle, "recording": cpu_share(process.pid)}
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory(dir="/dev/shm") as shm:
        found = measure(Path(shm), Path(work))
    text = json.dumps(found, indent=2) + "\n"
    Path(sys.argv[1]).write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
