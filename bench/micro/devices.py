#!/usr/bin/env python3
"""CPU that `record --devices` adds to a request to a block device, and how much longer it takes.

    sudo bench/micro/devices.py FOLDER [--rounds 10] [--on DIRECTORY]

Reads 4 KiB at a time past the page cache (O_DIRECT) from random places of a file in DIRECTORY:
plain, recorded with `--native`, and with `--devices`, too, in turns. CPU is the whole machine's, so
that the collector's is in it. Writes every run into FOLDER/devices.json and prints means with
intervals of 95 %, of the differences within a round.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from bench.measure.results import Results, say  # noqa: E402
from bench.measure.stats import mean  # noqa: E402

REQUESTS, SIZE, FILE = 50_000, 4096, 256 << 20
WAYS = {"plain": None, "recorded": (), "with --devices": ("--devices",)}
TICKS = os.sysconf("SC_CLK_TCK")
Run = dict[str, Any]


def machine_cpu() -> float:
    """Seconds of all processors that were at work."""
    values = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:8]]
    return (sum(values) - values[3] - values[4]) / TICKS


def reads(path: Path) -> Run:
    """Of one read, µs: time, and CPU of the machine."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    room = [mmap.mmap(-1, SIZE)]  # on a border of pages, as the device wants it
    places = [random.randrange(FILE // SIZE) * SIZE for _ in range(REQUESTS)]
    began, cpu = time.monotonic(), machine_cpu()
    for place in places:
        os.preadv(file, room, place)
    took, used = time.monotonic() - began, machine_cpu() - cpu
    return {"time": took / REQUESTS * 1e6, "cpu": used / REQUESTS * 1e6}


def measured(how: str, path: Path, store: Path) -> Run:
    """One run; of one with `--devices`, how many requests were recorded."""
    own = [sys.executable, __file__, "--reads", str(path)]
    options = WAYS[how]
    if options is None:
        return dict(json.loads(subprocess.check_output(own)))
    iostrata = [str(ROOT / ".venv/bin/iostrata")]
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    record = [*iostrata, "record", "--private", "--native", "--quiet", "--run", "r", *options, "--"]
    found = dict(json.loads(subprocess.check_output([*record, *own], env=environment)))
    sql = "SELECT sum(count)::BIGINT AS n FROM sums WHERE layer = 'device' AND op = 'read'"
    query = [*iostrata, "query", sql, "--run", "r", "--format", "json"]
    rows = json.loads(subprocess.check_output(query, env=environment))
    found["requests"] = rows[0]["n"] or 0
    if options and found["requests"] < REQUESTS:
        sys.exit(f"{found['requests']} of {REQUESTS} requests were recorded: is this root?")
    return found


def lines(runs: list[Run]) -> list[str]:
    by_way = {how: [run for run in runs if run["how"] == how] for how in WAYS}
    shown = []
    for unit in ("time", "cpu"):
        values = {how: [run[unit] for run in found] for how, found in by_way.items()}
        shown.append(f"{unit:4} of a read, plain: {mean(values['plain']).estimate:.1f} µs")
        for more, less in (("recorded", "plain"), ("with --devices", "recorded")):
            of = mean([a - b for a, b in zip(values[more], values[less], strict=True)])
            shown.append(
                f"     {more}: {of.estimate:+.2f} µs over {less} "
                f"({of.low:.2f} to {of.high:.2f}, n = {of.n})"
            )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--on", type=Path, help="where the file is made; by default FOLDER")
    parser.add_argument("--reads", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.reads:
        print(json.dumps(reads(given.reads)))
        return
    if given.folder is None:
        parser.error("FOLDER is missing")
    settings = {"requests": REQUESTS, "bytes": SIZE, "rounds": given.rounds}
    results = Results(given.folder, "devices", settings)
    with tempfile.TemporaryDirectory(dir=given.on or given.folder) as made:
        file = Path(made) / "data"
        with file.open("wb") as out:
            for _ in range(FILE >> 20):
                out.write(os.urandom(1 << 20))
            os.fsync(out.fileno())
        for number in range(len(results.runs) // len(WAYS), given.rounds):
            order = random.Random(number).sample(list(WAYS), len(WAYS))
            store = Path(made) / str(number)
            results.add(
                [{"round": number, "how": how, **measured(how, file, store / how)} for how in order]
            )
    results.conclude(lines(results.runs))
    say("\n".join(lines(results.runs)))


if __name__ == "__main__":
    main()
