#!/usr/bin/env python3
"""Identity MapReduce and WordCount on clusters of other sizes and disks, predicted and measured.

    bench/replay/clusters.py FOLDER [--repeats 5] [--nodes 2 4 8] [--disks 20 40]

The paper's distributed batch jobs (S5, Fig. 5): Hadoop's `sort`, whose maps and reduces hand on
what they get, and `wordcount`, each with two reduces. Each is recorded once on four nodes with
disks of 20 MB/s, and what-if is asked for every number of nodes and rate of disks; its answers are
written to FOLDER/clusters.json before a cluster of them is started. Each cluster then runs both
jobs on all disks in turns, in an order of its own for each round, recorded alike, with cold caches.
Goes on where it was stopped; prints predicted and measured times. Root.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import stats  # noqa: E402
from bench.measure.results import machine  # noqa: E402
from bench.replay.changes import (  # noqa: E402
    DISK,
    NODES,
    OF_TEXT,
    Job,
    Made,
    brake,
    examples,
    in_lab,
    iostrata,
    lab,
    seconds,
)

SIZE = f"-Dmapreduce.randomtextwriter.totalbytes={128 << 20}"
PARTS = f"-Dmapreduce.randomtextwriter.bytespermap={16 << 20}"
TEXTS = "-outKey org.apache.hadoop.io.Text -outValue org.apache.hadoop.io.Text"
JOBS = {
    "identity": Job(f"randomtextwriter {SIZE} {PARTS} IN", f"sort SET -r 2 {TEXTS} IN OUT", {}),
    "wordcount": Job(
        f"randomtextwriter {SIZE} {PARTS} -outFormat {OF_TEXT} IN",
        "wordcount SET -Dmapreduce.job.reduces=2 IN OUT",
        {},
    ),
}


def case(job: str, nodes: int, disk: int) -> str:
    return f"{job}, {nodes} nodes, {disk} MB/s"


def ask(run: str, nodes: int, disk: int, store: Path) -> Any:
    """What-if's answer. Where nobody waited for disks it knows nothing of others: then they are
    taken to be no limit either.
    """
    wider = ["--nodes", str(nodes)] if nodes != NODES else ["--cores", str(os.cpu_count())]
    how = ("--store", str(store), "--json", "--quiet")
    if disk != DISK:
        try:
            faster = ("--faster-disk", f"{disk / DISK}x")
            return json.loads(iostrata("what-if", run, *wider, *faster, *how))
        except SystemExit as error:
            if "no disk held this run back" not in str(error):
                raise
    return json.loads(iostrata("what-if", run, *wider, *how))


def make(job: str) -> None:
    in_lab("hadoop", "jar", examples(), *JOBS[job].make.replace("IN", f"/in/{job}").split())


def predict(facts: dict[str, Any], given: argparse.Namespace, known: str) -> None:
    if len(facts["predicted"]) == len(JOBS) * len(given.nodes) * len(given.disks):
        return
    with lab():
        for name, job in JOBS.items():
            make(name)
            for run in ("warm", "recorded"):
                brake(Made(()))
                taken = seconds(job, name, f"{known}-{name}-{run}", (), given.store)
            facts["recorded"][name] = taken
    for name in JOBS:
        for nodes in given.nodes:
            for disk in given.disks:
                said = ask(f"{known}-{name}-recorded", nodes, disk, given.store)
                facts["predicted"][case(name, nodes, disk)] = said


def measure(facts: dict[str, Any], nodes: int, given: argparse.Namespace, known: str) -> None:
    def is_done(key: str, number: int) -> bool:
        return any(row["case"] == key and row["round"] == number for row in facts["measured"])

    wanted = [
        (number, name, disk)
        for number in range(given.repeats)
        for name in JOBS
        for disk in given.disks
        if not is_done(case(name, nodes, disk), number)
    ]
    if not wanted:
        return
    drawn = random.Random(f"{nodes}")
    wanted.sort(key=lambda one: (one[0], drawn.random()))
    with lab(nodes):
        for name, job in JOBS.items():
            make(name)
            seconds(job, name, f"{known}-{name}-{nodes}-warm-{time.time():.0f}", (), given.store)
        for number, name, disk in wanted:
            brake(Made((), disk=disk), nodes)
            key = case(name, nodes, disk)
            run = f"{known}-{key.replace(', ', '-').replace(' ', '-').replace('/', '-')}-{number}"
            taken = seconds(JOBS[name], name, run, (), given.store)
            print(f"round {number} {key}: {taken:.1f} s", flush=True)
            facts["measured"].append({"round": number, "case": key, "time": taken})
            given.path.write_text(json.dumps(facts, indent=1))


def report(facts: dict[str, Any]) -> None:
    errors, within = [], 0
    for key, said in facts["predicted"].items():
        times = [row["time"] for row in facts["measured"] if row["case"] == key]
        if not times:
            continue
        found = stats.mean(times)
        predicted, low, high = (said[name] / 1e9 for name in ("predicted", "low", "high"))
        off = predicted / found.estimate - 1
        errors.append(off)
        within += low <= found.estimate <= high
        print(
            f"{key}: predicted {predicted:.1f} s ({low:.1f} to {high:.1f}), measured "
            f"{found.estimate:.1f} s ({found.low:.1f} to {found.high:.1f}), off by {off:+.1%}"
        )
    if errors:
        sizes = sorted(abs(one) for one in errors)
        print(f"errors: median {median(sizes):.1%}, worst {sizes[-1]:.1%}, of {len(sizes)}")
        print(f"means within their range: {within} of {len(errors)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--nodes", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--disks", nargs="+", type=int, default=[20, 40])
    parser.add_argument("--store", type=Path, default=Path("/tmp/iostrata-clusters"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    given.path = given.folder / "clusters.json"
    facts: dict[str, Any] = {"machine": machine(), "recorded": {}, "predicted": {}, "measured": []}
    facts["jobs"] = {name: [job.make, job.run] for name, job in JOBS.items()}
    if given.path.is_file():
        facts = json.loads(given.path.read_text())
    known = f"c{facts.setdefault('stamp', time.strftime('%m%d%H%M%S', time.gmtime()))}"
    predict(facts, given, known)
    given.path.write_text(json.dumps(facts, indent=1))
    for nodes in given.nodes:
        measure(facts, nodes, given, known)
    report(facts)


if __name__ == "__main__":
    main()
