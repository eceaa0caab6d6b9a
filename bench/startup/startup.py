#!/usr/bin/env python3
"""CPU that the agent adds to the start of a JVM.

    bench/startup/startup.py bench/runs/2026-11-22-startup [--runs 15] [--before LIBRARY]

Starts three programs, interleaved: `main` with an empty body, and one that loads 3,000 classes: of
java.desktop, as an application's, and of java.base, of which the JVM has a good part in an archive
whose use any hook on class files makes slower. Each without an agent; with an empty Java agent;
with that of iostrata as `-javaagent`, ready but off, and recording; and with its native loader
(target/release), its cache empty (cold) or filled (warm, and warm while recording).
`--before` adds the native loader of an earlier build, with the same jar: warm, and warm while
recording.
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

from iostrata.jdks import homes

ROOT = Path(__file__).resolve().parent.parent.parent
AGENT = ROOT / "java/agent/target/iostrata-agent.jar"
LOADER = ROOT / "target/release/libiostrata_loader.so"
PROGRAM = "public class Nothing { public static void main(String[] a) {} }"
LOADS = """
import java.net.URI;
import java.nio.file.*;
import java.util.Iterator;
public class Loads {
  public static void main(String[] a) throws Exception {
    Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", a[0]);
    int left = 3000;
    for (Iterator<Path> i = Files.walk(base).iterator(); i.hasNext() && left > 0; ) {
      String name = base.relativize(i.next()).toString();
      if (name.endsWith(".class") && !name.equals("module-info.class")) {
        Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false, null);
        left--;
      }
    }
    if (left > 0) {
      throw new AssertionError(left + " classes too few");
    }
  }
}
"""
PROGRAMS = (["Nothing"], ["Loads", "java.desktop"], ["Loads", "java.base"])
EMPTY_AGENT = (
    "public class Empty { public static void premain(String o, "
    "java.lang.instrument.Instrumentation i) {} }"
)


def jdks() -> list[Path]:
    """Homes of the installed JDKs, one for each real path."""
    return sorted(home for home in homes() if (home / "bin/javac").exists())


def jar(path: Path, classes: Path, names: tuple[str, ...], manifest: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n" + manifest)
        for name in names:
            archive.write(classes / f"{name}.class", f"{name}.class")
    return path


def build(work: Path, jdk: Path) -> tuple[Path, Path]:
    """Jars of the programs and of the empty agent."""
    for name, text in (("Nothing", PROGRAM), ("Loads", LOADS), ("Empty", EMPTY_AGENT)):
        (work / f"{name}.java").write_text(text, "utf-8")
        javac = [str(jdk / "bin/javac"), "--release", "8", "-Xlint:-options", "-d", str(work)]
        subprocess.run([*javac, str(work / f"{name}.java")], check=True)
    programs = jar(work / "programs.jar", work, ("Nothing", "Loads"), "")
    agent = jar(work / "empty.jar", work, ("Empty",), "Premain-Class: Empty\n")
    return programs, agent


def control_page(on: bool, budget: int = 10_000) -> bytes:
    """schema/events.toml [preamble] and [control]; budget in millionths, 1% as is the default."""
    page = bytearray(4096)
    struct.pack_into("<IHH", page, 0, 0x54534F49, 1, 4)
    struct.pack_into("<I", page, 16, int(on))
    struct.pack_into("<I", page, 40, budget)
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


def measure(jdk: Path, runs: int, work: Path, before: Path | None) -> list[dict[str, Any]]:
    programs, empty = build(work, jdk)
    for name in ("off", "recording"):
        (work / name).mkdir()
        (work / name / "control").write_bytes(control_page(name == "recording"))
    agent = f"-javaagent:{AGENT}=dir={work}"
    native = f"-agentpath:{LOADER}=jar={AGENT},dir={work}"
    variants: dict[str, list[str]] = {
        "none": [],
        "empty": [f"-javaagent:{empty}"],
        "off": [f"{agent}/off"],
        "recording": [f"{agent}/recording"],
        "native cold": [f"{native}/off,cache={work}/cold"],
        "native warm": [f"{native}/off,cache={work}/warm"],
        "native recording": [f"{native}/recording,cache={work}/warm"],
    }
    if before:
        earlier = f"-agentpath:{before.resolve()}=jar={AGENT},dir={work}"
        variants["before warm"] = [f"{earlier}/off,cache={work}/warm"]
        variants["before recording"] = [f"{earlier}/recording,cache={work}/warm"]
    found = []
    for run in range(-1, runs):  # the first fills caches and is not kept
        for program in PROGRAMS:
            for name, options in variants.items():
                java = [f"{jdk}/bin/java", *options, "-cp", str(programs)]
                figures = start([*java, *program])
                if run >= 0:
                    which = " ".join(program)
                    row = {"jdk": jdk.name, "program": which, "agent": name, "run": run}
                    found.append({**row, **figures})
                for left in ("off", "recording"):
                    shutil.rmtree(work / left / str(os.getuid()), ignore_errors=True)
                shutil.rmtree(work / "cold", ignore_errors=True)
    return found


def report(found: list[dict[str, Any]]) -> None:
    for jdk, program in dict.fromkeys((row["jdk"], row["program"]) for row in found):
        rows = [row for row in found if (row["jdk"], row["program"]) == (jdk, program)]
        medians = {
            agent: statistics.median(row["cpu_ms"] for row in rows if row["agent"] == agent)
            for agent in dict.fromkeys(row["agent"] for row in rows)
        }
        text = "  ".join(f"{agent} {ms:.0f}" for agent, ms in medians.items())
        print(f"{jdk} {program}: median CPU ms  {text}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--before", type=Path)
    arguments = parser.parse_args()
    for built in (AGENT, LOADER):
        if not built.exists():
            sys.exit(f"{built} is missing: run `make build`")
    found: list[dict[str, Any]] = []
    for jdk in jdks():
        with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
            found += measure(jdk, arguments.runs, Path(work), arguments.before)
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
