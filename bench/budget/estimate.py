#!/usr/bin/env python3
"""Is what a process says of its own cost true, and does it keep within its budget?

    bench/budget/estimate.py FOLDER
    bench/budget/estimate.py FOLDER --pairs 4 --only reads

One process works for long; recording is switched on and off inside it (windows of three seconds,
in pairs, the order turned with each). From outside: CPU of the working thread per call, on and
off. From inside: what the page of the process says of the same windows. Three cases: reads kept one
by one whatever they cost, the same at a budget of 1 %, and writes of a byte, which are only summed.
Writes every window into FOLDER/budget.json, prints for each case the share of CPU that woven code
takes as measured from outside and as the process says, with intervals (bootstrap over pairs,
95 %).
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent)]

from bench.measure import stats  # noqa: E402
from tests.e2e.serving import Node, node, wait_until  # noqa: E402

from iostrata.lab import jars  # noqa: E402
from iostrata.record.artifacts import agent_for  # noqa: E402
from iostrata.record.environment import agent_option  # noqa: E402

WARM_PAIRS = 3  # the first switches throw compiled code away
SECONDS = 3.0
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What the process does, and with which budget it is recorded. `spins` set the share of CPU
    that tracing takes: 10 to 50 % where it may take what it wants.
    """

    name: str
    kind: str
    spins: int
    budget: str


CASES = (
    Case("reads, all kept", "read", 300, "off"),
    Case("reads, budget 1 %", "read", 300, "1%"),
    Case("writes of a byte", "write", 10, "off"),
)


class Worker:
    """The process of Work.java, traced by the node's agent."""

    def __init__(self, one: Node, case: Case, classpath: str) -> None:
        file = one.folder / "data"
        file.write_bytes(os.urandom(1 << 20))
        agent = agent_option(agent_for(one.dir), one.dir, "none")
        work = ["Work", case.kind, str(file), str(case.spins)]
        self.child = subprocess.Popen(
            ["java", "-Xmx256m", agent, "-cp", classpath, *work],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def now(self) -> tuple[int, int]:
        """Calls so far, ns of CPU of the working thread."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        calls, cpu = self.child.stdout.readline().split()
        return int(calls), int(cpu)

    def window(self) -> Row:
        """Calls and CPU of the next SECONDS."""
        calls, cpu = self.now()
        time.sleep(SECONDS)
        after, spent = self.now()
        return {"calls": after - calls, "cpu": spent - cpu}


class Page:
    """The costs that a process says of itself; offsets as in schema/events.toml, [process]."""

    def __init__(self, one: Node, pid: int) -> None:
        (directory,) = one.traces(pid)
        self.path = directory / "process"

    def costs(self) -> dict[str, int]:
        """ns so far; new once a second."""
        page = self.path.read_bytes()
        names = ("hooks", "thread", "collector", "cpu", "over")
        return dict(zip(names, struct.unpack_from("<5Q", page, 128), strict=True))


def pairs(one: Node, case: Case, classpath: str, wanted: int) -> list[Row]:
    """Windows with recording and without, next to each other."""
    worker = Worker(one, case, classpath)
    found = []
    try:
        wait_until(lambda: worker.now()[0] > 100_000)
        page = Page(one, worker.child.pid)
        for number in range(WARM_PAIRS + wanted):
            pair: Row = {"case": case.name, "warm_up": number < WARM_PAIRS}
            for on in (True, False) if number % 2 else (False, True):
                if not on:
                    pair["off"] = worker.window()
                    continue
                run = f"{case.kind}-{time.monotonic_ns()}"
                with one.recording(run, "--budget", case.budget, "--quiet"):
                    time.sleep(SECONDS / 2)  # within its budget by then
                    before = page.costs()
                    pair["on"] = worker.window()
                    pair["said"] = {k: v - before[k] for k, v in page.costs().items()}
            found.append(pair)
            print(f"{case.name}: pair {number + 1} of {WARM_PAIRS + wanted}", file=sys.stderr)
    finally:
        worker.child.kill()
        worker.child.wait()
    return found


def report(found: list[Row], case: Case) -> Row:
    """One line: the share of CPU that tracing takes in place, from outside and from inside."""
    rows = [row for row in found if row["case"] == case.name and not row["warm_up"]]
    outside, inside, calls = [], [], []
    for row in rows:
        on, off, said = row["on"], row["off"], row["said"]
        cost = on["cpu"] / on["calls"]
        calls.append(cost - off["cpu"] / off["calls"])
        outside.append(calls[-1] / cost)
        inside.append(said["hooks"] / said["cpu"])
    of = {
        "ns added per call": stats.bootstrap(calls),
        "share from outside": stats.bootstrap(outside),
        "share as it says": stats.bootstrap(inside),
        "ratio": stats.bootstrap([a / b for a, b in zip(inside, outside, strict=True)]),
    }
    shown = (f"{k} {v.estimate:.4g} ({v.low:.4g} to {v.high:.4g})" for k, v in of.items())
    print(f"{case.name}: {', '.join(shown)}")
    return {"case": case.name, **{k: [v.estimate, v.low, v.high] for k, v in of.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default="", help="cases whose name begins so")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in CASES if case.name.startswith(given.only)]
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        classpath = f"{work}:{jars.fetch(print)}/*"
        subprocess.run(["javac", "-cp", classpath, "-d", made, str(HERE / "Work.java")], check=True)
        for case in cases:
            with node(work / case.kind) as one:
                found += pairs(one, case, classpath, given.pairs)
    lines = [report(found, case) for case in cases]
    text = json.dumps({"command": sys.argv, "report": lines, "pairs": found}, indent=1)
    (given.folder / "budget.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
