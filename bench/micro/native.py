#!/usr/bin/env python3
"""CPU ns that tracing adds to one pread() of 64 bytes of a native program.

    bench/micro/native.py FOLDER [--rounds 5]
    bench/micro/native.py FOLDER --before CLONE    and the same with an older build, interleaved
    bench/micro/native.py FOLDER --other "NAME: VARIABLE=VALUE …"    and with another tracer

Runs calls.c plain, at the default, with every call recorded individually (`--budget off`), with
other tracers that these variables of the environment load, and under strace where there is one, in
turns. Writes every run into FOLDER/native.json and prints
medians with their range.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from bench.measure.results import Results, say  # noqa: E402
from bench.micro.calls import ns  # noqa: E402

CALLS = 2_000_000
UNDER_STRACE = 50_000
DETAIL = {"default": (), "all calls": ("--budget", "off")}
Run = dict[str, Any]


def commands(program: Path, before: Path | None, others: list[str]) -> dict[str, list[str]]:
    """By what is measured; `plain` is nobody's, and `before` a clone of an older version."""
    calls = [str(program), str(CALLS)]
    found = {"plain": calls}
    for name, build in {"": ROOT, ", before": before}.items():
        for detail, options in DETAIL.items() if build else ():
            iostrata = str(build / ".venv/bin/iostrata")
            record = [iostrata, "record", "--private", "--native", "--quiet", *options]
            found[detail + name] = [*record, "--", *calls]
    for other in others:
        name, _, variables = other.partition(":")
        found[name] = ["env", f"HOME={program.parent}", *variables.split(), *calls]
    if shutil.which("strace"):
        log = str(program.with_suffix(".strace"))
        found["strace"] = ["strace", "-f", "-o", log, str(program), str(UNDER_STRACE)]
    return found


def lines(runs: list[Run]) -> list[str]:
    """One for each thing that was measured: its median and range over plain."""
    plain = statistics.median(run["ns"] for run in runs if run["what"] == "plain")
    shown = [f"plain {plain:.0f} ns"]
    for what in dict.fromkeys(run["what"] for run in runs if run["what"] != "plain"):
        added = [run["ns"] - plain for run in runs if run["what"] == what]
        shown.append(
            f"{what:20} +{statistics.median(added):.0f} ns "
            f"({min(added):.0f} to {max(added):.0f}, n = {len(added)})"
        )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="a clone of an older version, set up and built")
    parser.add_argument("--other", action="append", default=[], help="another tracer")
    given = parser.parse_args()
    results = Results(given.folder, "native", {"calls": CALLS, "rounds": given.rounds})
    with tempfile.TemporaryDirectory() as made:
        program = Path(made) / "calls"
        source = str(ROOT / "bench/micro/calls.c")
        subprocess.run(["gcc", "-O2", "-o", str(program), source], check=True)
        found = commands(program, given.before, given.other).items()
        for number in range(len(results.runs) // len(found), given.rounds):
            took = {what: ns(command, Path(made) / "store") for what, command in found}
            results.add({"round": number, "what": what, "ns": it} for what, it in took.items())
    results.conclude(lines(results.runs))
    say("\n".join(lines(results.runs)))


if __name__ == "__main__":
    main()
