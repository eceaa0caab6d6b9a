#!/usr/bin/env python3
"""How many requests a second the generator sends to HDFS, and how well it keeps their times.

    bench/requests/requests.py bench/runs/2026-11-24-requests [--note TEXT]

On a lab with one DataNode, all JVMs with both compilers: 5,000 look-ups a second (requests-stat);
the saturation point of the default mix (requests); the same at 35 % and 70 % of that. Latency is
from when a request was due; the arrival error is how much later it was handed over to a thread;
CPU is that of the generator's process, and of its dispatching thread alone.
Writes requests.json into the folder: each run as `iostrata workload run --json` gives it, with the
load of the machine before and after it. Prints a line each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

LAB = "requests-bench"
# A lab's JVMs have only the first compiler, which suits jobs of seconds.
BOTH_COMPILERS = {"_JAVA_OPTIONS": "-XX:TieredStopAtLevel=4"}
SHARES = (0.35, 0.7)


def iostrata(*words: str) -> str:
    """Standard output; ends this program when it fails."""
    command = [sys.executable, "-m", "iostrata", *words]
    done = subprocess.run(
        command,
        env={**os.environ, **BOTH_COMPILERS},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}")
    return done.stdout


def load() -> str:
    """Load averages, and the share of time in which a thread waited for a CPU."""
    pressure = Path("/proc/pressure/cpu")
    waited = pressure.read_text("utf-8").splitlines()[0] if pressure.exists() else ""
    return f"{Path('/proc/loadavg').read_text('utf-8').strip()} {waited}".strip()


def run(label: str, workload: str, *given: str) -> dict[str, Any]:
    """One run of a workload, and what it printed."""
    sets = [word for one in given for word in ("--set", one)]
    before = load()
    said = iostrata("workload", "run", workload, "--lab", LAB, "--json", "-q", *sets)
    row = {"label": label, "load_before": before, "load_after": load(), **json.loads(said)}
    show(row)
    return row


def show(row: dict[str, Any]) -> None:
    result = row["result"]
    if "saturation_per_s" in result:
        print(f"{row['label']}: {result['saturation_per_s']:.0f} requests/s", flush=True)
        return
    print(
        f"{row['label']}: asked {result['asked_per_s']:.0f}/s, achieved "
        f"{result['achieved_per_s']:.0f}/s, failed {result['failed']}, latency p50 "
        f"{result['latency_ms_p50']:.2f} p99 {result['latency_ms_p99']:.2f} ms, arrival error p50 "
        f"{result['arrival_error_ms_p50']:.3f} p99 {result['arrival_error_ms_p99']:.3f} ms, "
        f"{result['cpu_cores']:.2f} cores, dispatcher {result['dispatcher_cpu_cores']:.3f}",
        flush=True,
    )


def measure(seconds: float, trial: float) -> list[dict[str, Any]]:
    lasts = f"duration={seconds}"
    rows = [run("stat", "requests-stat", lasts, "warmup=10")]
    search = ("find=saturation", "warmup=10", f"trial={trial}")
    rows.append(run("saturation", "requests", *search))
    point = rows[-1]["result"]["saturation_per_s"]
    for share in SHARES:
        rate = f"base={share * point}"
        rows.append(run(f"{share:.0%} of saturation", "requests", rate, lasts, "warmup=10"))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--trial", type=float, default=10)
    parser.add_argument("--note", default="", help="what else went on, for the file")
    arguments = parser.parse_args()
    iostrata("lab", "up", "hadoop", "--name", LAB, "--no-agent")
    try:
        rows = measure(arguments.seconds, arguments.trial)
    finally:
        iostrata("lab", "down", LAB)
    machine = {"kernel": platform.release(), "cpus": os.cpu_count()}
    found = {"command": sys.argv, "note": arguments.note, "machine": machine, "runs": rows}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "requests.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
