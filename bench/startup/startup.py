#!/usr/bin/env python3
"""CPU that the agent adds to the start of a JVM that does nothing.

    bench/startup/startup.py bench/runs/2026-11-21-startup [--runs 15]

Starts `public static void main` with an empty body, interleaved, without an agent, with an empty
Java agent, and with that of iostrata (java/agent/target) ready but off, and recording.
Writes startup.json into the folder: one entry per JVM started, CPU (user + system, getrusage) and
wall time in ms. Prints medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
AGENT = ROOT / "java/agent/target/iostrata-agent.jar"
PROGRAM = "public class Nothing { public static void main(String[] a) {} }"
EMPTY_AGENT = (
    "public class Empty { public static void premain(String o, "
    "java.lang.instrument.Instrumentation i) {} }"
)


def jdks() -> list[Path]:
    """Homes of the installed JDKs, one for each real path."""
    homes = {
        path.resolve() for path in Path("/usr/lib/jvm").glob("*") if (path / "bin/javac").exists()
    }
    return sorted(homes)


def jar(path: Path, classes: Path, name: str, manifest: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n" + manifest)
        archive.write(classes / f"{name}.class", f"{name}.class")
    return path


def build(work: Path, jdk: Path) -> tuple[Path, Path]:
    """Jars of the empty program and the empty agent."""
    for name, text in (("Nothing", PROGRAM), ("Empty", EMPTY_AGENT)):
        (work / f"{name}.java").write_text(text, "utf-8")
        javac = [jdk / "bin/javac", "--release", "8", "-Xlint:-options", "-d", work]
        subprocess.run([*map(str, javac), str(work / f"{name}.java")], check=True)
    program = jar(work / "program.jar", work, "Nothing", "")
    agent = jar(work / "empty.jar", work, "Empty", "Premain-Class: Empty\n")
    return program, agent


def control_page(on: bool) -> bytes:
    """schema/events.toml [preamble] and [control]."""
    page = bytearray(4096)
    struct.pack_into("<IHH", page, 0, 0x54534F49, 0, 4)
    struct.pack_into("<I", page, 16, int(on))
    return bytes(page)


def start(command: list[str]) -> dict[str, float]:
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    return {
        "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000, 2),
        "wall_ms": round((time.monotonic() - begin) * 1000, 2),
    }


def measure(jdk: Path, runs: int, work: Path) -> list[dict[str, Any]]:
    program, empty = build(work, jdk)
    variants: dict[str, list[str]] = {"none": [], "empty": [f"-javaagent:{empty}"]}
    for name in ("off", "recording"):
        traces = work / name
        traces.mkdir()
        (traces / "control").write_bytes(control_page(name == "recording"))
        variants[name] = [f"-javaagent:{AGENT}=dir={traces}"]
    found = []
    for run in range(runs):
        for name, options in variants.items():
            figures = start([f"{jdk}/bin/java", *options, "-cp", str(program), "Nothing"])
            found.append({"jdk": jdk.name, "agent": name, "run": run, **figures})
            shutil.rmtree(work / "off" / str(os.getuid()), ignore_errors=True)
            shutil.rmtree(work / "recording" / str(os.getuid()), ignore_errors=True)
    return found


def report(found: list[dict[str, Any]]) -> None:
    for jdk in dict.fromkeys(row["jdk"] for row in found):
        medians = {
            agent: statistics.median(
                row["cpu_ms"] for row in found if row["jdk"] == jdk and row["agent"] == agent
            )
            for agent in dict.fromkeys(row["agent"] for row in found)
        }
        text = "  ".join(f"{agent} {ms:.0f}" for agent, ms in medians.items())
        print(f"{jdk}: median CPU ms  {text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    if not AGENT.exists():
        sys.exit(f"{AGENT} is missing: run `make build`")
    found: list[dict[str, Any]] = []
    for jdk in jdks():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
            found += measure(jdk, arguments.runs, Path(work))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    machine = {
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "load": Path("/proc/loadavg").read_text("utf-8").strip(),
    }
    text = json.dumps({"command": sys.argv, "machine": machine, "starts": found}, indent=1)
    (arguments.folder / "startup.json").write_text(text + "\n", "utf-8")
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
