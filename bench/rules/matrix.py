#!/usr/bin/env python3
"""Does the cause that was planted rank first? Runs jobs with one thing wrong, and healthy ones.

    bench/rules/matrix.py bench/runs/2026-11-23-rules [--seed 1] [--size small] [--only CAUSE …]
    bench/rules/matrix.py bench/runs/2026-11-23-rules --page     the tables of docs/findings.md

Each job of causes.py is recorded on a real cluster as `iostrata record` does by default, and its
findings are asked for as `iostrata findings --json` does. Every run is added to matrix.json in the
folder; those that are there are not run again (--again does). Ctrl-C ends it with what it has.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from bench.measure.results import machine, say  # noqa: E402
from bench.rules.causes import JOBS, LABS, Job  # noqa: E402
from bench.rules.page import page  # noqa: E402

from iostrata_lab import clusters  # noqa: E402
from iostrata_lab.clusters.state import home as labs_home  # noqa: E402

HERE = Path(__file__).parent
IOSTRATA = (sys.executable, "-m", "iostrata")
SIZES = ("small", "large")
TEXT_FILES, TEXT_MB = 4, 5  # at the small size
LONG = 4  # times that
MANY_KB = 200
SMALL_MB = 512  # a volume of memory
INPUT_MB = 64
Row = dict[str, Any]


def iostrata(store: Path, *words: str) -> str:
    """What a command prints; the matrix ends where one fails."""
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    done = subprocess.run(
        [*IOSTRATA, *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def found(store: Path, name: str) -> Row:
    """How long a recorded run took (ns), and its findings."""
    said = json.loads(iostrata(store, "findings", "--json", name))
    keys = ("rule", "severity", "share", "because", "seen", "gain")
    return {
        "wall": said["wall"],
        "findings": [{key: each[key] for key in keys} for each in said["findings"]],
    }


class Braked(Protocol):
    """What runs on a cluster some of whose nodes are slow."""

    @property
    def brakes(self) -> dict[str, str]: ...


class Bench:
    """A cluster with the inputs of all jobs; a context manager."""

    def __init__(self, lab: str, work: Path, seed: int, size: str) -> None:
        self.work = work
        self.seed = seed
        self.size = SIZES.index(size)
        self.store = work / "store"
        self.name = f"rules-{lab}"
        self.cluster = LABS[lab]
        self.made: set[str] = set()

    def __enter__(self) -> Self:
        self._down()
        places = {"small": self._small_volume(), "disk": labs_home() / self.name / "disk"}
        properties = self.cluster.properties.items()
        options = [f"--conf={name}={value.format(**places)}" for name, value in properties]
        kind = "nodes" if self.cluster.nodes else "datanodes"
        options += [f"--{kind}", str(self.cluster.nodes or self.cluster.datanodes)]
        self._iostrata("lab", "up", "hadoop", "--name", self.name, *options)
        self.lab = clusters.find(self.name)
        self.classes = self.work / "classes"
        self.tasks = self.work / "tasks.jar"
        self._compile()
        return self

    def __exit__(self, *_: object) -> None:
        self._down()

    def _down(self) -> None:
        """With its collector, which `Lab.down` knows nothing of."""
        if any(lab.name == self.name for lab in clusters.list_labs()):
            self._iostrata("lab", "down", self.name)
        if os.path.ismount(self.work / "small"):
            subprocess.run(["umount", self.work / "small"], check=True)

    def _small_volume(self) -> Path:
        """Memory mounted as a volume that has little room; only where the cluster asks for it."""
        folder = self.work / "small"
        if any("{small}" in value for value in self.cluster.properties.values()):
            folder.mkdir(exist_ok=True)
            size = f"size={SMALL_MB}m"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", folder], check=True)
        return folder

    @contextmanager
    def braked(self, job: Braked) -> Iterator[None]:
        """The nodes of a job slowed down as it asks while it runs."""
        for node, brakes in job.brakes.items():
            self._iostrata("lab", "brake", node, *brakes.split(), "--name", self.name)
        yield
        for node in job.brakes:
            self._iostrata("lab", "brake", node, "--off", "--name", self.name)

    def _compile(self) -> None:
        self.classes.mkdir(exist_ok=True)
        sources = [str(HERE / name) for name in ("Client.java", "Mended.java", "Tasks.java")]
        self.lab.run(["javac", "--release", "17", "-d", str(self.classes), *sources], check=True)
        subprocess.run(["jar", "cf", self.tasks, "-C", self.classes, "."], check=True)

    def _iostrata(self, *words: str) -> str:
        return iostrata(self.store, *words)

    @contextmanager
    def command(self, job: Job, text: str, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """A command as it is in causes.py with its fields filled in, and how to start it; it has a
        local folder until the block ends.
        """
        with tempfile.TemporaryDirectory(dir=self.work) as local:
            words = text.format(
                times=job.sizes[self.size],
                seed=self.seed,
                run=f"{name}-{time.time_ns()}",
                local=local,
                tasks=self.tasks,
                examples=self.lab.examples_jar,
                archive=self.work / f"archive-{job.sizes[self.size]}.zip",
            )
            yield words, ("sh", "-c", f'CLASSPATH="{self.classes}:$CLASSPATH" exec {words}')

    def timed(self, job: Job, text: str) -> float:
        """Seconds that a command takes without a recording."""
        with self.command(job, text, "timed") as (_, command):
            begin = time.monotonic()
            self.lab.run(command, check=True, capture_output=True)
            return time.monotonic() - begin

    def run(self, job: Job) -> Row:
        """One job, recorded; its findings and what was measured."""
        self.prepare(job)
        name = f"{job.title}-{self.seed}-{SIZES[self.size]}"
        shutil.rmtree(self.store / name, ignore_errors=True)
        with self.braked(job), self.command(job, job.command, name) as (words, command):
            record = ("record", "--quiet", "--lab", self.name, "--run", name)
            self._iostrata(*record, "--", *command)
        return {
            "job": job.title,
            "cause": job.cause,
            "seed": self.seed,
            "size": SIZES[self.size],
            **found(self.store, name),
            "command": words,
            "machine": machine(),
        }

    def prepare(self, job: Job) -> None:
        """The inputs that a command names, made once."""
        times = job.sizes[self.size]
        makers = {
            "/causes/text": lambda: self._text("text", 1),
            "/causes/long": lambda: self._text("long", LONG),
            "/causes/many": lambda: self._many(times),
            "/causes/far": self._far,
            "/causes/tera": self._tera,
            "{archive}": lambda: self._archive(times),
            "Client": self._input,
            "namenode-lock": lambda: self._client("tree", times),
        }
        for word, make in makers.items():
            if word in job.command and word not in self.made:
                make()
                self.made.add(word)

    def _text(self, name: str, times: int) -> None:
        for number in range(TEXT_FILES):
            size = times * TEXT_MB << (20 + self.size)
            self._put(words(size, self.seed + number), f"{name}/{number}")

    def _many(self, files: int) -> None:
        for number in range(files):
            (self.work / f"{number}.txt").write_text(words(MANY_KB << 10, self.seed + number))
        paths = [str(self.work / f"{number}.txt") for number in range(files)]
        self.lab.run(["hadoop", "fs", "-mkdir", "-p", "/causes/many"], check=True)
        self.lab.run(["hadoop", "fs", "-put", *paths, "/causes/many/"], check=True)

    def _far(self) -> None:
        """Text whose blocks are on the first node alone: it is written there, without replicas."""
        path = self.work / "text"
        path.write_text(words(TEXT_MB * TEXT_FILES << (20 + self.size), self.seed))
        pid = next(d.pid for d in self.lab.state.daemons if d.role == "datanode-1")
        inside = ["nsenter", f"--target={pid}", "--net", "--uts"]
        put = ["hadoop", "fs", "-Ddfs.replication=1", "-put", str(path), "/causes/far"]
        self.lab.run(["hadoop", "fs", "-mkdir", "-p", "/causes"], check=True)
        self.lab.run([*inside, *put], check=True)

    def _put(self, text: str, name: str) -> None:
        path = self.work / "text"
        path.write_text(text)
        folder = f"/causes/{name.rpartition('/')[0]}"
        self.lab.run(["hadoop", "fs", "-mkdir", "-p", folder], check=True)
        self.lab.run(["hadoop", "fs", "-put", "-f", str(path), f"/causes/{name}"], check=True)

    def _tera(self) -> None:
        rows = str(640_000 << self.size)
        jar = str(self.lab.examples_jar)
        gen = ["hadoop", "jar", jar, "teragen", "-Dmapreduce.job.maps=4", rows, "/causes/tera"]
        self.lab.run(gen, check=True, capture_output=True)

    def _archive(self, files: int) -> None:
        with zipfile.ZipFile(self.work / f"archive-{files}.zip", "w") as archive:
            for number in range(files):
                archive.writestr(f"{number % 100}/{number}", f"{number}")

    def _input(self) -> None:
        self._client("input", INPUT_MB << self.size)

    def _client(self, what: str, times: int) -> None:
        environment = {"CLASSPATH": f"{self.classes}:{self.lab.environment()['CLASSPATH']}"}
        command = ["java", "Client", what, str(times), str(self.seed)]
        self.lab.run(command, env=environment, check=True)


def words(size: int, seed: int) -> str:
    """Lines of words, the frequent ones more often (Zipf), about `size` bytes."""
    chosen = random.Random(seed)
    known = [f"{chosen.getrandbits(40):010x}" for _ in range(20_000)]
    weights = [1 / (rank + 10) for rank in range(len(known))]
    picked = chosen.choices(known, weights, k=size // 11)
    return "\n".join(" ".join(picked[i : i + 8]) for i in range(0, len(picked), 8)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=SIZES, default=SIZES[0])
    parser.add_argument("--only", nargs="*", default=[], help="titles of jobs")
    parser.add_argument("--again", action="store_true", help="run what is there once more")
    parser.add_argument("--work", type=Path, help="folder for the store; a new one by default")
    parser.add_argument("--page", action="store_true", help="print the tables of what is there")
    parser.add_argument("--judge", action="store_true", help="ask anew what is in --work")
    chosen = parser.parse_args()
    path = chosen.folder / "matrix.json"
    rows: list[Row] = json.loads(path.read_text()) if path.exists() else []
    if chosen.page:
        order = [job.title for job in JOBS]
        print(page(sorted(rows, key=lambda row: (order.index(row["job"]), row["seed"]))))
        return
    if chosen.judge:
        for row in rows:
            name = f"{row['job']}-{row['seed']}-{row['size']}"
            if (chosen.work / "store" / name).exists():
                row |= found(chosen.work / "store", name)
        path.write_text(json.dumps(rows, indent=1) + "\n")
        return
    chosen.folder.mkdir(parents=True, exist_ok=True)
    work = chosen.work or Path(tempfile.mkdtemp(prefix="iostrata-rules-"))
    work.mkdir(parents=True, exist_ok=True)

    def key(row: Row) -> tuple[str, int, str]:
        return row["job"], row["seed"], row["size"]

    wanted = [job for job in JOBS if not chosen.only or job.title in chosen.only]
    there = set() if chosen.again else {key(row) for row in rows}
    wanted = [job for job in wanted if (job.title, chosen.seed, chosen.size) not in there]
    for lab in dict.fromkeys(job.lab for job in wanted):
        with Bench(lab, work, chosen.seed, chosen.size) as bench:
            for job in (job for job in wanted if job.lab == lab):
                row = bench.run(job)
                rows = [old for old in rows if key(old) != key(row)] + [row]
                path.write_text(json.dumps(rows, indent=1) + "\n")
                first = row["findings"][0] if row["findings"] else None
                told = f"{first['rule']} {first['severity']} {first['share']:.0%}" if first else "-"
                say(f"{job.title} ({row['wall'] / 1e9:.0f} s): {told}")
    if not chosen.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
