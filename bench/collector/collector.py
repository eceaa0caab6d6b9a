#!/usr/bin/env python3
"""What the collector costs: on the replayed events of a recorded job, and when idle.

    bench/collector/collector.py bench/runs/2026-11-21-collector

Records TestDFSIO (write, 8 files of 128 MB, 2 DataNodes) on a lab, keeps the spool, and replays it
through the collector's way to Parquet on one core; then lets a collector with five traced, idle
daemons and nothing to record run for 30 s. Writes collector.json into the folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from iostrata.artifacts import native_binary, stage_agent
from iostrata.record.collector import collector_of
from iostrata_lab import clusters

JOB = ("hadoop", "org.apache.hadoop.fs.TestDFSIO", "-write", "-nrFiles", "8", "-size", "128MB")
IDLE_SECONDS = 30
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def wait_for_collector(directory: Path) -> None:
    for _ in range(500):
        if collector_of(directory):
            return
        time.sleep(0.02)
    sys.exit(f"no collector in {directory}")


def record(directory: Path, store: Path, lab: clusters.Lab) -> str:
    environment = {**os.environ, **lab.environment(), "IOSTRATA_STORE": str(store)}
    command = [sys.executable, "-m", "iostrata", "record", "--dir", str(directory)]
    done = subprocess.run(
        [*command, "--run", "r", "--", *JOB],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr[-4000:])
    return done.stderr.strip().splitlines()[-2]


def measure(work: Path, directory: Path) -> dict[str, Any]:
    store, spool, kept = work / "store", work / "spool", work / "kept"
    kept.mkdir()
    options = ["--dir", str(directory), "--store", str(store), "--spool", str(spool)]
    command = [str(native_binary()), "collect", *options, "--keep-spool", str(kept)]
    collector = subprocess.Popen(command)
    try:
        wait_for_collector(directory)
        agent = clusters.AgentOptions(jar=stage_agent(directory), dir=directory)
        lab = clusters.up("bench-collector", datanodes=2, agent=agent)
        try:
            before = cpu_seconds(collector.pid)
            line = record(directory, store, lab)
            recording = cpu_seconds(collector.pid) - before
            time.sleep(2)
            before = cpu_seconds(collector.pid)
            time.sleep(IDLE_SECONDS)
            idle = cpu_seconds(collector.pid) - before
        finally:
            lab.down()
    finally:
        collector.terminate()
        collector.wait()
    size = sum(path.stat().st_size for path in (store / "r").rglob("part-*.parquet"))
    replayed = subprocess.run(
        [str(native_binary()), "replay", "--from", str(kept), "--times", "20"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {
        "job": " ".join(JOB),
        "recorded": line,
        "recording_cpu_s": recording,
        "parquet_bytes": size,
        "idle_cpu_share_of_a_core": idle / IDLE_SECONDS,
        "replay": json.loads(replayed),
    }


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory(dir="/dev/shm") as shm:
        found = measure(Path(work), Path(shm))
    (folder / "collector.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
