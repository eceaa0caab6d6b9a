#!/usr/bin/env python3
"""CPU and wall seconds of a first answer, with SQL compiled ahead of time and without, in turns.

    bench/micro/answers.py FOLDER [--rounds 9] [--events 200000]

Asks `iostrata summary` and `iostrata findings` of a made run, each in a process of its own; in the
other half the file of decision 0027 is not there. Writes every run into FOLDER/answers.json and
prints medians with their range.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.large.generate import generate  # noqa: E402
from bench.measure.results import machine  # noqa: E402

from iostrata.analyse.compiled import FILE  # noqa: E402

COMMANDS = ("summary", "findings")
Run = dict[str, Any]


def measured(command: str, store: Path) -> dict[str, float]:
    """Seconds of one command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [sys.executable, "-m", "iostrata", command, "r"]
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    subprocess.run(words, env=environment, check=True, capture_output=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": wall}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--events", type=int, default=200_000)
    given = parser.parse_args()
    aside = FILE.with_suffix(".aside.tmp")
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as made:
        generate(Path(made), "r", given.events)
        for number in range(given.rounds):
            for command in COMMANDS:
                runs.append({"what": command, "ahead": True, **measured(command, Path(made))})
                FILE.rename(aside)
                try:
                    runs.append({"what": command, "ahead": False, **measured(command, Path(made))})
                finally:
                    aside.rename(FILE)
            print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
    given.folder.mkdir(parents=True, exist_ok=True)
    whole = {"machine": machine(), "events": given.events, "runs": runs}
    (given.folder / "answers.json").write_text(json.dumps(whole, indent=1) + "\n")
    for command in COMMANDS:
        for ahead in (False, True):
            of = [run for run in runs if (run["what"], run["ahead"]) == (command, ahead)]
            for unit in ("cpu", "wall"):
                values = [run[unit] for run in of]
                print(
                    f"{command:9} {'ahead' if ahead else 'when asked':10} {unit:4} "
                    f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f}, "
                    f"n = {len(values)})"
                )


if __name__ == "__main__":
    main()
