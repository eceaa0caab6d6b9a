#!/usr/bin/env python3
"""CPU ns that tracing adds to one `FileInputStream.read` of 64 bytes, by how the JVM runs it.

    bench/micro/calls.py FOLDER
    bench/micro/calls.py FOLDER --before CLONE    and the same with an older build, interleaved

Runs Calls.java interpreted, with the first compiler only, and with both; plain, at the default, and
with every call recorded individually (`--level record --budget off`), in turns. Writes every run
into FOLDER/calls.json and prints medians with their range.
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
MODES = {
    "interpreted": ("-Xint", 20_000),
    "first compiler": ("-XX:TieredStopAtLevel=1", 400_000),
    "both compilers": ("-XX:+TieredCompilation", 400_000),
}
DETAIL = {"default": (), "all": ("--level", "record", "--budget", "off")}
Run = dict[str, Any]


def ns(command: list[str], store: Path) -> float:
    """What Calls.java printed."""
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr.decode()}")
    line = next(line for line in done.stdout.decode().splitlines() if line.startswith('{"ns"'))
    return float(json.loads(line)["ns"])


def commands(builds: dict[str, Path], work: Path, mode: str) -> dict[str, list[str]]:
    """By build and detail; `plain` is nobody's."""
    option, calls = MODES[mode]
    java = ["java", option, "-cp", str(work), "Calls", str(calls)]
    found = {"plain": java}
    for name, build in builds.items():
        iostrata = str(build / ".venv/bin/iostrata")
        for detail, options in DETAIL.items():
            found[f"{name}, {detail}"] = [iostrata, "record", "--private", *options, "--", *java]
    return found


def report(runs: list[Run]) -> None:
    for mode in MODES:
        of = [run for run in runs if run["mode"] == mode]
        plain = statistics.median(run["ns"] for run in of if run["what"] == "plain")
        print(f"{mode}: plain {plain:.0f} ns")
        for what in dict.fromkeys(run["what"] for run in of if run["what"] != "plain"):
            added = [run["ns"] - plain for run in of if run["what"] == what]
            print(
                f"  {what:20} +{statistics.median(added):.0f} ns"
                f" ({min(added):.0f} to {max(added):.0f}, n = {len(added)})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", type=Path, help="a clone of an older version, set up and built")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    builds = {"now": ROOT} | ({"before": given.before} if given.before else {})
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        source = ROOT / "bench/micro/Calls.java"
        subprocess.run(["javac", "-d", made, source], check=True)
        for number in range(given.rounds):
            for mode in MODES:
                for what, command in commands(builds, work, mode).items():
                    took = ns(command, work / "store")
                    runs.append({"round": number, "mode": mode, "what": what, "ns": took})
            # whole rounds only, as they come: an end by Ctrl-C leaves what was measured
            (given.folder / "calls.json").write_text(json.dumps(runs, indent=1) + "\n")
    report(runs)


if __name__ == "__main__":
    main()
