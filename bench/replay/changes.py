#!/usr/bin/env python3
"""What `iostrata what-if` predicts of changes, beside what they bring when they are made.

    bench/replay/changes.py FOLDER [--repeats 5] [--jobs sort terasort wordcount spark]

A lab of four nodes, each disk braked to 20 MB/s with 16 MiB of dirty memory, traced. Of each job
one run is recorded, and what-if is asked for each change: its answers are written to
FOLDER/JOB.json before any change is made. Before each run the nodes' disks are braked anew, which
empties their page cache. Then each round runs the job as it was and with each
change, in an order of its own, all of them recorded alike. Nothing of a measured run goes into a
prediction. The job of Spark needs a Python that has pyspark. Goes on where it was stopped; prints,
for each job and change, predicted and measured time with its interval. Root.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from bench.measure import stats  # noqa: E402
from bench.measure.results import machine  # noqa: E402

LAB = "replay"
NODES = 4
DISK = 20  # MB/s
DIRTY = "16MiB"
NO_SPECULATION = [f"--conf=mapreduce.{task}.speculative=false" for task in ("map", "reduce")]
BASE = "as it was"


@dataclass(frozen=True)
class Job:
    """Programs of Hadoop's examples: `make` writes IN, `run` reads it, with SET in its middle; with
    `program`, it is arguments of that program of Spark.
    """

    make: str
    run: str
    changes: dict[str, Made]
    program: str = ""


@dataclass(frozen=True)
class Made:
    """A change: what what-if is asked, the settings that make it, and the rates of disks (MB/s) and
    network.
    """

    asked: tuple[str, ...]
    settings: tuple[str, ...] = ()
    disk: int = DISK
    net: str = "off"


AS_IT_WAS = Made(())


def _set(text: str) -> Made:
    return Made(("--set", text), (f"-D{text}",))


def _limit(role: str, number: int) -> Made:
    return _set(f"mapreduce.job.running.{role}.limit={number}")


LATE = _set("mapreduce.job.reduce.slowstart.completedmaps=1.0")
OF_DISKS = {
    f"disks of {2 * DISK} MB/s": Made(("--faster-disk", "2x"), disk=2 * DISK),
    f"disks of {DISK // 2} MB/s": Made(("--faster-disk", "0.5x"), disk=DISK // 2),
}
OF_TASKS = {
    "two maps at once": _limit("map", 2),
    "one reduce at once": _limit("reduce", 1),
    "reduces after all maps": LATE,
}
TEXT = f"-Dmapreduce.randomtextwriter.totalbytes={128 << 20}"
PARTS = f"-Dmapreduce.randomtextwriter.bytespermap={32 << 20}"
OF_TEXT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
JOBS = {
    "sort": Job(
        f"randomtextwriter {TEXT} {PARTS} IN",
        "sort SET -r 4 -outKey org.apache.hadoop.io.Text -outValue org.apache.hadoop.io.Text "
        "IN OUT",
        {
            **OF_DISKS,
            "two maps at once": _limit("map", 2),
            "one copy": _set("dfs.replication=1"),
        },
    ),
    "terasort": Job(
        "teragen -Dmapreduce.job.maps=6 1200000 IN",
        "terasort -Dmapreduce.job.reduces=3 SET IN OUT",
        {
            **OF_DISKS,
            "two maps at once": _limit("map", 2),
            "reduces after all maps": LATE,
            "six reduces": _set("mapreduce.job.reduces=6"),
            "compressed by gzip": Made(
                ("--codec", "gzip"),
                (
                    "-Dmapreduce.map.output.compress=true",
                    "-Dmapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.GzipCodec",
                ),
            ),
            "network of 4 MB/s": Made(("--network", "4MB/s"), net="4MB/s"),
            "two copies": Made(
                ("--set", "dfs.replication=2"), ("-Dmapreduce.terasort.output.replication=2",)
            ),
        },
    ),
    "wordcount": Job(
        f"randomtextwriter {TEXT} {PARTS} -outFormat {OF_TEXT} IN",
        "wordcount SET -Dmapreduce.job.reduces=2 IN OUT",
        OF_TASKS,  # nobody waits for disks
    ),
    "spark": Job(
        f"randomtextwriter {TEXT} {PARTS} -outFormat {OF_TEXT} IN",
        "IN OUT SET",
        {
            **OF_DISKS,
            "two tasks at once": Made(("--containers", "2"), ("spark.executor.cores=1",)),
            "one copy": Made(("--set", "dfs.replication=1"), ("spark.hadoop.dfs.replication=1",)),
        },
        "bench/replay/sorting.py",
    ),
}


def iostrata(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "iostrata", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"iostrata {' '.join(words)} failed:\n{done.stderr}{done.stdout}")
    return done.stdout


@contextmanager
def lab() -> Iterator[None]:
    """The lab, until it is no longer needed."""
    brakes = [
        word
        for node in range(1, NODES + 1)
        for word in ("--brake", f"node-{node}:disk={DISK}MB/s,dirty={DIRTY}")
    ]
    shape = ("--name", LAB, "--nodes", str(NODES))
    iostrata("lab", "up", "hadoop", *shape, *brakes, *NO_SPECULATION)
    try:
        yield
    finally:
        iostrata("lab", "down", LAB)


def brake(made: Made) -> None:
    for node in range(1, NODES + 1):
        words = ("--disk", f"{made.disk}MB/s", "--dirty", DIRTY, "--net", made.net, "--name", LAB)
        iostrata("lab", "brake", f"node-{node}", *words)


def examples() -> str:
    found = sorted((Path.home() / ".cache/iostrata").glob("hadoop-3.5.0/lib/*examples*.jar"))
    if not found:
        raise SystemExit("no jar of Hadoop's examples is in the cache: start a lab first")
    return str(found[0])


def in_lab(*words: str) -> None:
    """A command of the lab that is not recorded."""
    shell = f'eval "$({sys.executable} -m iostrata lab env {LAB})"; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", shell, "-", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")


def recorded(name: str, run: str, settings: tuple[str, ...], store: Path) -> float:
    """Seconds of a recorded run of a job; its input is in a folder that has its name."""
    job = JOBS[name]
    words: list[str] = []
    for word in job.run.split():
        words += (
            settings if word == "SET" else [{"IN": f"/in/{name}", "OUT": "/out"}.get(word, word)]
        )
    program = job.program
    start = [sys.executable, str(ROOT / program)] if program else ["hadoop", "jar", examples()]
    iostrata("record", "--lab", LAB, "--run", run, "--store", str(store), "--", *start, *words)
    facts = json.loads((store / run / "run.json").read_text())
    in_lab("hadoop", "fs", "-rm", "-r", "-skipTrash", "/out")
    return float(facts["end"] - facts["start"]) / 1e9


def measure(job: str, repeats: int, folder: Path, store: Path) -> None:
    path, changes = folder / f"{job}.json", JOBS[job].changes
    facts: dict[str, Any] = {"machine": machine(), "job": JOBS[job].run, "make": JOBS[job].make}
    if path.is_file():
        facts = json.loads(path.read_text())
    # the collector of a lab keeps runs, those of an earlier measurement too
    known = f"{job}-{facts.setdefault('stamp', time.strftime('%m%d%H%M%S', time.gmtime()))}"
    in_lab("hadoop", "jar", examples(), *JOBS[job].make.replace("IN", f"/in/{job}").split())
    if "predicted" not in facts:
        recorded(job, f"{known}-warm", (), store)
        brake(AS_IT_WAS)
        facts["recorded"] = recorded(job, f"{known}-recorded", (), store)
        facts["predicted"], facts["measured"] = {}, []
    for name in changes:
        if name not in facts["predicted"]:
            asked = (*JOBS[job].changes[name].asked, "--store", str(store), "--json", "--quiet")
            facts["predicted"][name] = json.loads(iostrata("what-if", f"{known}-recorded", *asked))
    path.write_text(json.dumps(facts, indent=1))
    for number in range(repeats):
        done = {row["change"] for row in facts["measured"] if row["round"] == number}
        order = [name for name in (BASE, *changes) if name not in done]
        random.Random(f"{job} {number}").shuffle(order)
        for name in order:
            made = JOBS[job].changes.get(name, AS_IT_WAS)
            brake(made)
            try:
                run = f"{known}-{number}-{name.replace(' ', '-').replace('/', '-')}"
                taken = recorded(job, run, made.settings, store)
            finally:
                brake(AS_IT_WAS)
            print(f"{job} round {number} {name}: {taken:.1f} s", flush=True)
            facts["measured"].append({"round": number, "change": name, "time": taken})
            path.write_text(json.dumps(facts, indent=1))


def table(facts: dict[str, Any]) -> list[str]:
    times: dict[str, list[float]] = {}
    for row in facts["measured"]:
        times.setdefault(row["change"], []).append(row["time"])
    base = stats.mean(times.get(BASE, []))
    lines = [f"as it was: recorded {facts['recorded']:.1f} s, again {base.estimate:.1f} s"]
    for name, said in facts["predicted"].items():
        if name not in times:
            continue
        found = stats.mean(times[name])
        predicted = said["predicted"] / 1e9
        lines.append(
            f"{name}: predicted {predicted:.1f} s ({said['low'] / 1e9:.1f} to "
            f"{said['high'] / 1e9:.1f}), measured {found.estimate:.1f} s ({found.low:.1f} to "
            f"{found.high:.1f}), off by {predicted / found.estimate - 1:+.1%}"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--store", type=Path, default=Path("/tmp/iostrata-replay"))
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with lab():
        for job in chosen.jobs:
            measure(job, chosen.repeats, chosen.folder, chosen.store)
    errors: list[float] = []
    within = 0
    for job in chosen.jobs:
        facts = json.loads((chosen.folder / f"{job}.json").read_text())
        print(job, *table(facts), sep="\n  ")
        for name, said in facts["predicted"].items():
            times = [row["time"] for row in facts["measured"] if row["change"] == name]
            if times:
                mean = 1e9 * sum(times) / len(times)
                errors.append(abs(said["predicted"] / mean - 1))
                within += said["low"] <= mean <= said["high"]
    if errors:
        print(f"errors: median {median(errors):.1%}, worst {max(errors):.1%}, of {len(errors)}")
        print(f"means within their range: {within} of {len(errors)}")


if __name__ == "__main__":
    main()
