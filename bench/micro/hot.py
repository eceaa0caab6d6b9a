#!/usr/bin/env python3
"""CPU ns that tracing adds to calls which are only summed.

    bench/micro/hot.py FOLDER
    bench/micro/hot.py FOLDER --before CLONE    and the same with an older build, interleaved

Runs Hot.java plain and under `iostrata record`, in turns, with both compilers of the JVM and with
the first one only, as the lab runs its short tasks. Writes every run into FOLDER/hot.json, prints
medians.
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

from iostrata_lab.clusters.hadoop import jars

ROOT = Path(__file__).resolve().parent.parent.parent
COMPILERS = {"both": "-XX:+TieredCompilation", "first": "-XX:TieredStopAtLevel=1"}
Case = dict[str, Any]


def run(build: Path | None, compiler: str, classpath: str, work: Path) -> list[Case]:
    """The cases of one JVM; `build`: whose iostrata records it, None: nobody's."""
    java = ["java", COMPILERS[compiler], "-Xmx512m", "-cp", classpath, "Hot"]
    record = (
        [] if build is None else [str(build / ".venv/bin/iostrata"), "record", "--private", "--"]
    )
    environment = {**os.environ, "IOSTRATA_STORE": str(work / "store")}
    done = subprocess.run([*record, *java], env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join([*record, *java])}:\n{done.stderr.decode()}")
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return [{"compiler": compiler, **json.loads(line)} for line in lines]


def report(cases: list[Case]) -> None:
    """What each build adds, and its range over the rounds."""
    names = list(dict.fromkeys((c["compiler"], c["case"]) for c in cases))
    builds = [b for b in dict.fromkeys(c["build"] for c in cases) if b != "plain"]
    for compiler, case in names:
        of = {
            build: [
                c["ns"]
                for c in cases
                if (c["compiler"], c["case"], c["build"]) == (compiler, case, build)
            ]
            for build in ("plain", *builds)
        }
        plain = statistics.median(of["plain"])
        added = ", ".join(
            f"{build} +{statistics.median(of[build]) - plain:.1f} "
            f"({min(of[build]) - plain:.1f} to {max(of[build]) - plain:.1f})"
            for build in builds
        )
        print(f"compiler {compiler:5}  {case:20} plain {plain:6.1f} ns  {added}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", type=Path, help="a clone of an older version, set up and built")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    builds = {"plain": None, "now": ROOT} | ({"before": given.before} if given.before else {})
    cases: list[Case] = []
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        classpath = f"{work}:{jars.fetch(print)}/*"
        source = str(ROOT / "bench/micro/Hot.java")
        subprocess.run(["javac", "-cp", classpath, "-d", made, source], check=True)
        for number in range(given.rounds):
            for compiler in COMPILERS:
                for name, build in builds.items():
                    found = run(build, compiler, classpath, work)
                    cases += [{"build": name, "round": number, **case} for case in found]
            print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
    text = json.dumps({"command": sys.argv, "cpus": os.cpu_count(), "cases": cases}, indent=1)
    (given.folder / "hot.json").write_text(text + "\n", "utf-8")
    report(cases)


if __name__ == "__main__":
    main()
