#!/usr/bin/env python3
"""What a trace of each truth job costs: CPU of the whole cluster, events, bytes.

    bench/jobs/jobs.py bench/runs/2026-11-21-jobs [--pairs 5]

Two labs of two DataNodes stand side by side, each in a control group of its own: one traced, one
without any agent. Every job runs in both, a pair after the other, the order turned with each pair.
The CPU of a run is what its group used: client, tasks, daemons, and of the traced one the collector
and `iostrata record`, too. Writes jobs.json into the folder (every run; per job the mean ratio of
the pairs with its 95 % interval; events and bytes per layer) and prints two tables; Ctrl-C
ends it with the pairs it has. Needs root.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.measure import stats, workloads  # noqa: E402
from bench.measure.cluster import TASK_JVM, TASKS  # noqa: E402
from bench.measure.group import Group  # noqa: E402

from iostrata.text import columns  # noqa: E402
from iostrata_lab import clusters  # noqa: E402

FILES, SIZE_MB = 4, 64
ROWS = 1_000_000  # of 100 bytes
TEXT_MB = 64
DFSIO = "hadoop org.apache.hadoop.fs.TestDFSIO"


@dataclass(frozen=True)
class Job:
    """A command with {n} for the number of its pair, and the MB of data it is for."""

    name: str
    megabytes: float
    command: str


JOBS = (
    Job("TestDFSIO write", FILES * SIZE_MB, f"{DFSIO} -write -nrFiles {FILES} -size {SIZE_MB}MB"),
    Job("TestDFSIO read", FILES * SIZE_MB, f"{DFSIO} -read -nrFiles {FILES} -size {SIZE_MB}MB"),
    Job("TeraGen", ROWS / 1e4, f"{{examples}} teragen -Dmapreduce.job.maps=2 {ROWS} /gen-{{n}}"),
    Job(
        "TeraSort",
        ROWS / 1e4,
        "{examples} terasort -Dmapreduce.job.reduces=2 /gen-{n} /sort-{n}",
    ),
    Job("WordCount, combiner", TEXT_MB, "{examples} wordcount /text /words-{n}"),
)


class Side:
    """A lab in its control group, with an agent or without."""

    def __init__(self, name: str, traced: bool, store: Path) -> None:
        self.name, self.traced, self.store = f"bench-{name}", traced, store
        self.output = store.parent / f"{name}.out"
        self.group = Group(f"iostrata-{self.name}-{os.getpid()}")
        self.environment = {"IOSTRATA_STORE": str(store)}
        agent = "--agent" if traced else "--no-agent"
        options = [word for name in TASKS for word in ("--conf", f"{name}={TASK_JVM}")]
        up = ("lab", "up", "hadoop", "--name", self.name, "--datanodes", "2", agent)
        self.iostrata(*up, *options)
        self.environment |= clusters.find(self.name).environment()

    def run(self, command: list[str]) -> None:
        self.group.run(command, self.environment, self.output)

    def iostrata(self, *arguments: str) -> None:
        self.run([sys.executable, "-m", "iostrata", *arguments])

    def job(self, job: Job, pair: int) -> dict[str, Any]:
        examples = f"hadoop jar {clusters.find(self.name).examples_jar}"
        command = job.command.format(n=pair, examples=examples).split()
        run = f"{job.name.split(',')[0].replace(' ', '-').lower()}-{pair}"
        if self.traced:
            command = [sys.executable, "-m", "iostrata", "record", "--run", run, "--", *command]
            command[4:4] = ["--lab", self.name]
        cpu, begin = self.group.cpu(), time.monotonic()
        self.run(command)
        return {
            "job": job.name,
            "pair": pair,
            "traced": self.traced,
            "cpu_s": round(self.group.cpu() - cpu, 3),
            "wall_s": round(time.monotonic() - begin, 2),
            "run": run if self.traced else None,
        }

    def down(self) -> None:
        try:
            self.iostrata("lab", "down", self.name)
        finally:
            self.group.remove()


def interval(ratios: list[float]) -> dict[str, float]:
    """Mean of ratios with its 95 % interval (Student's t on their logarithms)."""
    found = stats.ratio([(ratio, 1.0) for ratio in ratios])
    return {"ratio": 1 + found.estimate, "low": 1 + found.low, "high": 1 + found.high}


def by_layer(run: Path) -> dict[str, Any]:
    """Calls, events and bytes of a run; a layer's bytes are those of its rows encoded alone.

    These are scaled, so that they add up to the files.
    """
    files = list((run / "events").rglob("*.parquet"))
    total = sum(path.stat().st_size for path in files)
    events = f"read_parquet('{run}/events/**/*.parquet')"
    rows = duckdb.sql(
        "SELECT layer, count(*) FILTER (kind <> 'sum') AS events, count(*) AS rows, "
        f"coalesce(sum(count) FILTER (kind = 'sum'), 0)::BIGINT AS calls FROM {events} "
        "GROUP BY layer ORDER BY layer"
    ).fetchall()
    alone = {}
    with tempfile.TemporaryDirectory() as work:
        for layer, *_ in rows:
            path = Path(work) / "layer.parquet"
            where = "layer IS NULL" if layer is None else f"layer = '{layer}'"
            duckdb.sql(
                f"COPY (SELECT * FROM {events} WHERE {where}) TO '{path}' "
                "(FORMAT parquet, COMPRESSION zstd)"
            )
            alone[layer] = path.stat().st_size
    scale = total / sum(alone.values())
    return {
        "bytes": total,
        "events": sum(row[1] for row in rows),
        "rows": sum(row[2] for row in rows),
        "layers": [
            {
                "layer": layer or "none",
                "calls": calls,
                "events": events_,
                "bytes": round(alone[layer] * scale),
            }
            for layer, events_, _, calls in rows
        ],
    }


def measure(pairs: int, work: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with ExitStack() as stack:
        sides = []
        for name, traced in (("traced", True), ("plain", False)):
            sides.append(Side(name, traced, work / "store"))
            stack.callback(sides[-1].down)
        words = workloads.text(work, TEXT_MB)
        for side in sides:
            side.run(["hadoop", "fs", "-put", str(words), "/text"])
        try:
            for pair in range(1, pairs + 1):
                for job in JOBS:
                    for side in sides if pair % 2 else reversed(sides):
                        found.append(side.job(job, pair))
                        print(json.dumps(found[-1]), flush=True)
        except KeyboardInterrupt:
            print("interrupted: the pairs so far count", file=sys.stderr)
    return found


def summed(runs: list[dict[str, Any]], store: Path) -> list[dict[str, Any]]:
    jobs = []
    for job in JOBS:
        cpu = {(run["pair"], run["traced"]): run["cpu_s"] for run in runs if run["job"] == job.name}
        pairs = sorted(pair for pair, traced in cpu if traced and (pair, False) in cpu)
        if len(pairs) < 2:
            print(f"{job.name}: {len(pairs)} pairs, no interval", file=sys.stderr)
            continue
        first = next(run["run"] for run in runs if run["run"] and run["job"] == job.name)
        jobs.append(
            {
                "job": job.name,
                "command": job.command,
                "megabytes": job.megabytes,
                "plain_cpu_s": statistics.median(cpu[pair, False] for pair in pairs),
                "traced_cpu_s": statistics.median(cpu[pair, True] for pair in pairs),
                "traced_to_plain": interval([cpu[p, True] / cpu[p, False] for p in pairs]),
                "trace": by_layer(store / first),
            }
        )
    return jobs


def show(jobs: list[dict[str, Any]]) -> None:
    rows = [
        [
            job["job"],
            f"{job['plain_cpu_s']:.1f}",
            f"{job['traced_cpu_s']:.1f}",
            "{ratio:.3f} ({low:.3f} to {high:.3f})".format(**job["traced_to_plain"]),
            f"{job['trace']['events'] / job['megabytes']:.1f}",
            f"{job['trace']['bytes'] / job['megabytes']:.0f}",
            f"{job['trace']['bytes'] / job['trace']['rows']:.2f}",
        ]
        for job in jobs
    ]
    header = ["job", "CPU s", "traced", "ratio (95 %)", "events/MB", "B/MB", "B/row"]
    print("\n".join(columns(header, rows, range(1, 7))))
    rows = [
        [
            job["job"],
            layer["layer"],
            f"{layer['calls'] / job['megabytes']:.1f}",
            f"{layer['events'] / job['megabytes']:.1f}",
            f"{layer['bytes'] / job['megabytes']:.1f}",
        ]
        for job in jobs
        for layer in job["trace"]["layers"]
    ]
    print("\n".join(columns(["job", "layer", "calls/MB", "events/MB", "B/MB"], rows, range(2, 5))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("an interval needs two pairs at least")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        runs = measure(arguments.pairs, Path(work))
        jobs = summed(runs, Path(work) / "store")
    found = {"jobs": jobs, "runs": runs}
    (arguments.folder / "jobs.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    show(jobs)


if __name__ == "__main__":
    main()
