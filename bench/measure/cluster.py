"""A lab in a control group of its own, watched by a tracer or by nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bench.measure import traces
from bench.measure.group import Group
from bench.measure.results import say
from bench.measure.threads import by_threads
from bench.measure.workloads import Job, commands

from iostrata.record.collector import Collector, collector_of
from iostrata_lab import clusters
from iostrata_lab.recording import collector_directory

# A lab's task JVMs have only the first compiler, which suits jobs of seconds; these are users'.
TASK_JVM = "-Xmx600m -XX:+UseSerialGC"
TASKS = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts")
# A second attempt of a slow task is a toss: TestDFSIO of four files ran four to seven map tasks.
NO_SPECULATION = {f"mapreduce.{task}.speculative": "false" for task in ("map", "reduce")}
MASTER = "yarn.app.mapreduce.am.command-opts"
# The same for its daemons and clients: this variable is read after the command line.
BOTH_COMPILERS = {"_JAVA_OPTIONS": "-XX:TieredStopAtLevel=4"}
CONTAINERS = "yarn.nodemanager.admin-env.JAVA_TOOL_OPTIONS"
SETTLE = 2.0  # s after a job's last process: its files are removed, tracers write what they hold
LINGERS = 60.0  # s that it may outlive its client: an ApplicationMaster sleeps 5 s at its end
JOB_ID = re.compile(r"\bjob_\d+_\d+\b")
IOSTRATA = (sys.executable, "-m", "iostrata")


@dataclass(frozen=True)
class Observer:
    """What watches a cluster. `options` goes to every JVM, daemons and containers included.

    `after` is asked after each job what was written, and empties it: (folder of the side) -> facts.
    """

    name: str
    traced: bool = False  # by iostrata
    record: tuple[str, ...] = ()  # options of `iostrata record`
    options: str = ""
    properties: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = IOSTRATA  # that knows its version of Hadoop
    version: str = ""
    jvm: str = ""  # options that this version needs on this JDK
    after: Callable[[Path], dict[str, Any]] | None = None


PLAIN = Observer("plain")


class Side:
    """A cluster of its own that jobs run on, one at a time; a context manager."""

    def __init__(self, observer: Observer, work: Path, bench: str, datanodes: int = 2) -> None:
        self.observer = observer
        self.name = f"bench-{bench}-{observer.name}"
        self.work = work / observer.name
        self.work.mkdir(parents=True, exist_ok=True)
        self.store = self.work / "store"
        self.datanodes = datanodes
        self.output = self.work / "last-output"
        self.prepared: set[str] = set()
        self.environment = {"IOSTRATA_STORE": str(self.store), **BOTH_COMPILERS}
        if observer.options:
            self.environment["JAVA_TOOL_OPTIONS"] = observer.options

    def __enter__(self) -> Side:
        self._clear()
        self.group = Group(f"iostrata-{self.name}")
        properties = (
            NO_SPECULATION
            | dict.fromkeys((*TASKS, MASTER), f"{TASK_JVM} {self.observer.jvm}".rstrip())
            | self.observer.properties
        )
        if self.observer.options:
            # Hadoop puts a colon between a job's own value and this one: a word of its own.
            properties[CONTAINERS] = f" {self.observer.options}"
        words = ["lab", "up", "hadoop", "--name", self.name, "--datanodes", str(self.datanodes)]
        words += ["--agent" if self.observer.traced else "--no-agent"]
        words += ["--version", self.observer.version] if self.observer.version else []
        words += [w for name, value in properties.items() for w in ("--conf", f"{name}={value}")]
        say(f"{self.name}: {self.datanodes} DataNodes come up")
        try:
            self.run([*self.observer.command, *words])
        except BaseException:
            self.group.remove()
            raise
        self.lab = clusters.find_hadoop(self.name)
        self.environment |= self.lab.environment()
        return self

    def __exit__(self, *_: object) -> None:
        say(f"{self.name}: goes down")
        try:
            subprocess.run([*IOSTRATA, "lab", "down", self.name], check=False, capture_output=True)
        finally:
            self.group.remove()
            shutil.rmtree(self.work, ignore_errors=True)

    def _clear(self) -> None:
        """What a killed run of this benchmark left."""
        if self.name in [lab.name for lab in clusters.list_labs()]:
            subprocess.run([*IOSTRATA, "lab", "down", self.name], check=True, capture_output=True)
        shutil.rmtree(collector_directory(self.name), ignore_errors=True)

    def run(self, command: list[str]) -> str:
        """Runs a command in the group and in the lab's environment; returns what it printed."""
        return self.group.run(command, self.environment, self.output)

    def prepare(self, job: Job) -> None:
        """Once for each job; not measured."""
        if not job.prepare or job.prepare in self.prepared:
            return
        say(f"{self.observer.name}: data for {job.title}")
        for command in commands(job.prepare, job, self.name, self.work):
            self.run(command)
        self.prepared.add(job.prepare)
        if self.observer.after:
            self.observer.after(self.work)

    def measure(self, job: Job, number: int) -> dict[str, Any]:
        """Runs a job once: CPU and wall seconds, and what was written about it."""
        self.prepare(job)
        (command,) = commands(job.command, job, self.name, self.work)
        run = f"{job.name.replace(' ', '-').lower()}-{job.megabytes:.0f}-{number}"
        if self.observer.traced:
            option = ["--lab", self.name, "--run", run, *self.observer.record]
            command = [*IOSTRATA, "record", *option, "--", *command]
        threads: dict[str, float] = {}
        with by_threads(self.group, threads):
            daemons = self.group.pids()
            cpu, collector, begin = self.group.cpu(), self.collector_cpu(), time.monotonic()
            said = self.run(command)
            wall = time.monotonic() - begin
            self._outlive(daemons)
            cpu = self.group.cpu() - cpu
        found = {
            "job": job.name,
            "megabytes": round(job.megabytes, 3),
            "side": self.observer.name,
            "datanodes": self.datanodes,
            "number": number,
            "cpu_s": round(cpu, 4),
            "wall_s": round(wall, 2),
            "job_s": self._job_seconds(said),
            "threads_s": threads,
        }
        if self.observer.traced:
            found["collector_cpu_s"] = round(self.collector_cpu() - collector, 4)
            found["trace"] = traces.facts(self.store, run)
            traces.forget(self.store, run)
        if self.observer.after:
            found["trace"] = self.observer.after(self.work)
        self._delete(job.outputs)
        say(f"{job.title} {self.observer.name} #{number}: {found['cpu_s']:.2f} CPU s, {wall:.1f} s")
        return found

    def _outlive(self, daemons: set[int]) -> None:
        """Waits for the job's last process: on both sides its CPU counts, whoever waits for it."""
        deadline = time.monotonic() + LINGERS
        collector = self._collector()
        daemons |= {collector.pid} if collector else set()
        while left := self.group.pids() - daemons:
            if time.monotonic() > deadline:
                sys.exit(f"{self.name}: processes {sorted(left)} do not end")
            time.sleep(0.1)
        time.sleep(SETTLE)

    def _job_seconds(self, said: str) -> float | None:
        """From the submission to the end of the job that the command named, by its own history."""
        named = JOB_ID.findall(said)
        if not named:
            return None
        job = self.lab.job_history(named[-1], LINGERS)
        return (job.ended - job.submitted) / 1000

    def collector_cpu(self) -> float:
        """CPU seconds of iostrata's collector so far; 0 without one."""
        collector = self._collector()
        return pid_cpu(collector.pid) if collector else 0.0

    def _collector(self) -> Collector | None:
        return collector_of(collector_directory(self.name)) if self.observer.traced else None

    def _delete(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            with suppress(FileNotFoundError):
                self.lab.hdfs.do("DELETE", path, "DELETE&recursive=true")


def pid_cpu(pid: int) -> float:
    """User and system seconds of a process so far; 10 ms is the unit."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@cache
def record_help() -> str:
    done = subprocess.run(
        [*IOSTRATA, "record", "--help"],
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def options_missing(options: tuple[str, ...]) -> list[str]:
    """Those of these options of `iostrata record` that this build does not have."""
    return [word for word in options if word.startswith("--") and word not in record_help()]
