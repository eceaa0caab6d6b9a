#!/usr/bin/env python3
"""Is what a process says of its own cost true?

    bench/budget/estimate.py FOLDER
    bench/budget/estimate.py FOLDER --rounds 1 --pairs 4 --only reads

Two processes do the same work in turns, one of them recorded all the time, the other without an
agent; new ones each round, as compilers do not decide alike in each. From outside: CPU ns per call
that the first takes more. From inside: what its page says of the same calls. Cases: reads kept one
by one whatever they cost, reads only summed, and writes of a byte, which always are; tracing takes
more than a tenth of the CPU in each. Writes every pair into FOLDER/estimate.json and prints both
with intervals (bootstrap over pairs, 95 %), and the ratio of each round.
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

import numpy as np
from scipy import stats as scipy_stats

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent)]

from tests.e2e.serving import Node, node, wait_until  # noqa: E402

from iostrata.artifacts import agent_for  # noqa: E402
from iostrata.record.environment import agent_option  # noqa: E402
from iostrata_lab.clusters.hadoop import jars  # noqa: E402

WARM_PAIRS = 3  # both compilers are done by then
SETTLED = 2.3  # s: a process says once a second what it has measured
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What is called how often in a turn, `spins` rounds of arithmetic after each."""

    name: str
    kind: str
    calls: int
    spins: int
    budget: str


CASES = (
    Case("reads, all kept", "read", 1_500_000, 300, "off"),
    Case("reads, only summed", "read", 1_500_000, 300, "0.01%"),
    Case("writes of a byte", "write", 20_000_000, 10, "off"),
)


class Worker:
    """A process of Work.java; `one`: whose agent it has, None: nobody's."""

    def __init__(self, case: Case, classpath: str, folder: Path, one: Node | None) -> None:
        file = folder / f"data-{'plain' if one is None else 'traced'}"
        file.write_bytes(os.urandom(1 << 20))
        agent = [agent_option(agent_for(one.dir), one.dir, "none")] if one else []
        self.case = case
        self.child = subprocess.Popen(
            [
                "java",
                "-Xmx256m",
                "-Dlog4j.configuration=none",
                *agent,
                "-cp",
                classpath,
                "Work",
                case.kind,
                str(file),
                str(case.spins),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def turn(self) -> int:
        """ns of CPU of the calls of a turn."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(f"{self.case.calls}\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline())

    def end(self) -> None:
        self.child.kill()
        self.child.wait()


def costs(one: Node, pid: int) -> dict[str, int]:
    """ns that a process says of itself; offsets as in schema/events.toml, [process]."""
    (directory,) = one.traces(pid)
    page = (directory / "process").read_bytes()
    names = ("hooks", "thread", "collector", "cpu", "over")
    return dict(zip(names, struct.unpack_from("<5Q", page, 128), strict=True))


def pairs(one: Node, case: Case, classpath: str, wanted: int) -> list[Row]:
    """Turns of both processes next to each other, the order turned with each pair."""
    plain = Worker(case, classpath, one.folder, None)
    traced = Worker(case, classpath, one.folder, one)
    found: list[Row] = []
    try:
        wait_until(lambda: bool(one.traces(traced.child.pid)))
        with one.recording("r", "--budget", case.budget, "--quiet"):
            for number in range(WARM_PAIRS + wanted):
                pair: Row = {"case": case.name, "calls": case.calls}
                for is_traced in (True, False) if number % 2 else (False, True):
                    if not is_traced:
                        pair["plain"] = plain.turn()
                        continue
                    before = costs(one, traced.child.pid)
                    pair["traced"] = traced.turn()
                    time.sleep(SETTLED)
                    after = costs(one, traced.child.pid)
                    pair["said"] = {name: after[name] - before[name] for name in after}
                found.append({**pair, "warm_up": number < WARM_PAIRS})
                print(f"{case.name}: pair {number + 1} of {WARM_PAIRS + wanted}", file=sys.stderr)
    finally:
        plain.end()
        traced.end()
    return found


def report(found: list[Row], case: Case) -> Row:
    """One line: ns per call from outside and from inside, their ratio, tracing's share of CPU."""
    rows = [row for row in found if row["case"] == case.name and not row["warm_up"]]
    traced = np.array([row["traced"] / row["calls"] for row in rows])
    outside = traced - np.array([row["plain"] / row["calls"] for row in rows])
    inside = np.array([row["said"]["hooks"] / row["calls"] for row in rows])
    of = {
        "outside": interval((outside,), np.mean),
        "inside": interval((inside,), np.mean),
        "ratio": interval((inside, outside), lambda i, o: np.mean(i) / np.mean(o)),
        "share": interval((outside, traced), lambda o, t: np.mean(o) / np.mean(t)),
    }
    rounds = np.array([row["round"] for row in rows])
    each = [inside[rounds == n].mean() / outside[rounds == n].mean() for n in np.unique(rounds)]
    shown = ", ".join(
        f"{name} {e:.3g} ({low:.3g} to {high:.3g})" for name, (e, low, high) in of.items()
    )
    print(f"{case.name}: {shown}; ratio by round {', '.join(f'{ratio:.2f}' for ratio in each)}")
    return {"case": case.name, **of, "rounds": each}


def interval(values: tuple[Any, ...], statistic: Any) -> tuple[float, float, float]:
    """The statistic, and its bootstrap interval over pairs."""
    found = scipy_stats.bootstrap(
        values, statistic, paired=len(values) > 1, vectorized=False, method="percentile", rng=1
    ).confidence_interval
    return float(statistic(*values)), float(found.low), float(found.high)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=6, help="of a round (%(default)s)")
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
            for number in range(given.rounds):
                with node(work / f"{case.name.replace(' ', '-')}-{number}") as one:
                    rows = pairs(one, case, classpath, given.pairs)
                found += [{**row, "round": number} for row in rows]
    lines = [report(found, case) for case in cases]
    text = json.dumps({"command": sys.argv, "report": lines, "pairs": found}, indent=1)
    (given.folder / "estimate.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
