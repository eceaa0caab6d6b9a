"""What tracing costs in place: switched on and off inside processes that go on working.

Three subjects: a DataNode under a steady load of writes and reads, one long map task, and a reader
of records of 100 bytes, a call of HDFS for each, as TeraSort has them. A window
is two seconds with a run, or without one; two windows make a pair, the order turned with each.
The run of a window is the product's own way (`iostrata record`), so a window begins when every
process records and ends before the run does. CPU is that of the one process, from a control group
that it is moved into; work is bytes transferred (DataNode), mapped or read, counted by the load
itself.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from bench.measure import stats, traces, workloads
from bench.measure.cluster import IOSTRATA, Observer, Side
from bench.measure.group import Group
from bench.measure.results import Results, say
from bench.overhead.modes import Mode

from iostrata_lab.clusters import processes
from iostrata_lab.clusters.state import Daemon

Row = dict[str, Any]
HERE = Path(__file__).parent
WINDOW_SCRIPT = HERE / "window.py"
WARM = 15.0  # s of work before the first window of a process: its compilers are done by then
# Pairs of a process that do not count: its compilers leave out what has never run, so the first
# switches throw compiled code away, which no process does that is recorded from its start.
WARM_PAIRS = 4
COUNTING = 10  # windows: so long is the one in which calls are counted
KINDS = ("DataNode", "map", "reader")
LOAD = ("/bench-load", "2", "64", "120")  # folder, threads, MB of a file, MB/s
RECORDS = ("/bench-records", "64")  # file, MB
PATIENCE = 300.0  # s until a subject works


@dataclass
class Subject:
    """A process that works: its group, its counter of bytes."""

    name: str
    pid: int
    group: Group
    counter: Path

    def bytes(self) -> int:
        """So far; -1 when it has said that it ended, or is gone."""
        if not processes.command(self.pid):
            return -1
        try:
            return int(struct.unpack(">q", self.counter.read_bytes()[:8])[0])
        except (OSError, struct.error):
            return 0


class Toggle:
    """A lab with the subjects, and the results that they fill."""

    def __init__(self, side: Side, results: Results, seconds: float) -> None:
        self.side, self.results, self.seconds = side, results, seconds
        self.classes = side.work / "classes"
        path = side.lab.environment()["CLASSPATH"]
        javac = ["javac", "-Xlint:none", "-cp", path, "-d", str(self.classes)]
        subprocess.run([*javac, *map(str, HERE.glob("*.java"))], check=True)
        self.switched: dict[int, int] = {}  # pairs by pid
        self.java = ["java", "-Xmx512m", "-cp", f"{self.classes}:{path}"]

    def subject(self, kind: str, megabytes: int) -> AbstractContextManager[Callable[[], Subject]]:
        """One of KINDS; `megabytes` of text for a map."""
        if kind == "map":
            return self.long_map(megabytes)
        return self.datanode() if kind == "DataNode" else self.reader()

    def _datanode(self) -> Daemon:
        (daemon,) = (d for d in self.side.lab.daemons() if d.role.startswith("datanode"))
        return daemon

    @contextmanager
    def datanode(self) -> Iterator[Callable[[], Subject]]:
        """The lab's DataNode under load; always the same one."""
        daemon = self._datanode()
        counter = self.side.work / "load"
        group = self.side.group.child("datanode", daemon.pid)
        with self._running([*self.java, "Load", LOAD[0], str(counter), *LOAD[1:]]):
            subject = Subject("DataNode", daemon.pid, group, counter)
            self._warm(subject)
            yield lambda: subject

    @contextmanager
    def reader(self) -> Iterator[Callable[[], Subject]]:
        """A process that reads records of HDFS."""
        counter = self.side.work / "records"
        # No run is there to give it the agent when it starts: it has that of the daemons.
        options = processes.command(self._datanode().pid)
        agent = [word for word in options if word.startswith(("-agentpath:", "-javaagent:"))]
        words = [self.java[0], *agent, *self.java[1:], "Records", RECORDS[0], str(counter)]
        with self._running([*words, RECORDS[1]]) as pid:
            subject = Subject("reader", pid, self.side.group.child("reader", pid), counter)
            self._warm(subject)
            yield lambda: subject

    @contextmanager
    def long_map(self, megabytes: int) -> Iterator[Callable[[], Subject]]:
        """A map of so much text, and another one when it has ended."""
        side, counter = self.side, self.side.work / "mapped"
        jar = side.work / "long-map.jar"
        subprocess.run(["jar", "cf", str(jar), "-C", str(self.classes), "."], check=True)
        job = workloads.wordcount(megabytes)
        side.prepare(job)
        data = job.command.split()[-2]
        current: list[Subject] = []
        jobs: list[subprocess.Popen[bytes]] = []
        known: set[int] = set()

        def subject() -> Subject:
            if current and current[0].bytes() >= 0:
                return current[0]
            self._kill(jobs)
            counter.unlink(missing_ok=True)
            out = f"{workloads.BASE}/long-{time.monotonic_ns()}"
            words = ["hadoop", "jar", str(jar), "LongMap", data, out, str(counter)]
            jobs.append(side.group.popen(words, side.environment, side.work / "long-map.log"))
            pid = self._map(known)
            known.add(pid)
            current[:] = [Subject("map", pid, side.group.child(f"map-{pid}", pid), counter)]
            self._warm(current[0])
            return current[0]

        try:
            yield subject
        finally:
            self._kill(jobs)

    def _map(self, known: set[int]) -> int:
        """The pid of the map that has just been started."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for pid in (self.side.group.path / "cgroup.procs").read_text().split():
                words = processes.command(int(pid))
                is_map = any(word.endswith("YarnChild") for word in words)
                is_map = is_map and Path(words[0]).name == "java" and "_m_" in " ".join(words)
                if is_map and int(pid) not in known:
                    return int(pid)
            time.sleep(0.2)
        sys.exit(f"no map task within {PATIENCE:.0f} s\n{self._said()}")

    @contextmanager
    def _running(self, command: list[str]) -> Iterator[int]:
        """Its pid."""
        child = self.side.group.popen(command, self.side.environment, self.side.work / "load.log")
        try:
            yield child.pid
        finally:
            self._kill([child])

    @staticmethod
    def _kill(children: list[subprocess.Popen[bytes]]) -> None:
        for child in children:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        children.clear()

    def _said(self) -> str:
        """The end of what load and job printed: the lab is gone when it is read."""
        return "\n".join(path.read_text()[-2000:] for path in self.side.work.glob("lo*.log"))

    def _warm(self, subject: Subject) -> None:
        deadline = time.monotonic() + PATIENCE
        while subject.bytes() <= 0:
            if time.monotonic() > deadline:
                sys.exit(f"{subject.name} moves nothing within {PATIENCE:.0f} s\n{self._said()}")
            time.sleep(0.1)
        say(f"{subject.name} {subject.pid} works; {WARM:.0f} s until the first window")
        time.sleep(WARM)

    def pairs(self, subject: Callable[[], Subject], mode: Mode, wanted: int) -> None:
        """Pairs of windows until there are as many; a map that ended meanwhile makes none."""
        have = len(windows(self.results.runs, subject().name, mode.name))
        for number in range(have + 1, have + 10 * (wanted - have) + 1):
            if have >= wanted:
                break
            found = subject()
            order = (True, False) if number % 2 else (False, True)
            both = [self._window(found, mode if on else None, number) for on in order]
            if any(window["bytes"] <= 0 for window in both):
                continue
            self.switched[found.pid] = self.switched.get(found.pid, 0) + 1
            warm = self.switched[found.pid] <= WARM_PAIRS
            self.results.add({**window, "mode": mode.name, "warm_up": warm} for window in both)
            have += not warm
            costs = {w["on"]: w["cpu_s"] / w["bytes"] * 1e9 for w in both}
            say(
                f"{found.name} {mode.name} {'warm-up' if warm else f'pair {have} of {wanted}'}: "
                f"{costs[True]:.3f} ns of CPU per byte recorded, {costs[False]:.3f} off"
            )
        if have < wanted:
            say(f"only {have} pairs: raise --map-megabytes")

    def _window(self, subject: Subject, mode: Mode | None, number: int, times: int = 1) -> Row:
        out = self.side.work / "window.json"
        out.unlink(missing_ok=True)
        words = [sys.executable, str(WINDOW_SCRIPT), str(subject.group.path), str(subject.counter)]
        words += [str(self.seconds * times), str(out)]
        if mode is not None:
            run = f"w-{time.monotonic_ns()}"
            option = ["--lab", self.side.name, "--run", run, "--quiet", *mode.present]
            words = [*IOSTRATA, "record", *option, "--", *words]
        self.side.run(words)
        found: Row = json.loads(out.read_text("utf-8"))
        facts = {"subject": subject.name, "pid": subject.pid, "on": mode is not None}
        return {**facts, "number": number, **found}

    def count(self, subject: Callable[[], Subject], mode: Mode) -> None:
        """The calls per byte of a subject, over a longer window; kept once."""
        found = subject()
        if self.results.having(counted=True, subject=found.name, mode=mode.name):
            return None
        for folder in self.side.store.glob("*"):  # of windows; calls of nobody's client, too
            for path in folder.rglob("*.parquet"):
                path.unlink(missing_ok=True)
        window = self._window(found, mode, 0, COUNTING)
        if window["bytes"] <= 0:
            say(f"{found.name}: ended while its calls were counted; again")
            return self.count(subject, mode)
        layers = self._calls(found.pid)
        # Agents follow a run within 0.2 s at both its ends: at most 2 % more than in the window.
        window |= {"counted": True, "mode": mode.name, "calls": layers}
        self.results.add([window])
        say(f"{found.name} {mode.name}: {traces.by_mode(layers)} calls in {window['bytes']} B")
        return None

    def _calls(self, pid: int) -> dict[str, dict[str, int]]:
        """Calls of a process in all that the store has, by layer and mode."""
        files = f"{self.side.store}/*/events/**/*.parquet"

        def rows(query: str) -> list[Row]:
            with duckdb.connect() as db:
                found = db.execute(query.replace("FROM events", f"FROM read_parquet('{files}')"))
                names = [column[0] for column in found.description or []]
                return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        return traces.calls(rows, f"pid = {pid}")


def windows(runs: list[Row], subject: str, mode: str) -> list[tuple[Row, Row]]:
    """Pairs (on, off) of windows of the same process."""
    of = [run for run in runs if (run["subject"], run["mode"]) == (subject, mode)]
    of = [run for run in of if not run.get("counted") and not run["warm_up"]]
    pairs = zip(of[::2], of[1::2], strict=True)
    return [(a, b) if a["on"] else (b, a) for a, b in pairs if a["pid"] == b["pid"]]


def summed(runs: list[Row], subject: str, mode: Mode) -> Row | None:
    """The share of CPU per byte that recording adds to a subject, and ns per call; None: no pair.

    Shares by logarithms with t, and by bootstrap; `detectable` as in stats.Interval.
    """
    both = windows(runs, subject, mode.name)
    if len(both) < 2:
        return None
    costs = [(on["cpu_s"] / on["bytes"], off["cpu_s"] / off["bytes"]) for on, off in both]
    added = [(on - off) * 1e9 for on, off in costs]
    shares = [on / off - 1 for on, off in costs]
    found: Row = {
        "subject": subject,
        "mode": mode.name,
        "added": stats.ratio(costs).facts(),
        "added_bootstrap": stats.bootstrap(shares).facts(),
        "added_ns_per_byte": stats.mean(added).facts(),
        "off_ns_per_byte": stats.mean([off * 1e9 for _, off in costs]).facts(),
        "verdict": vars(stats.verdict(stats.ratio(costs), mode.bar, mode.problems)),
    }
    counted = [
        r for r in runs if r.get("counted") and (r["subject"], r["mode"]) == (subject, mode.name)
    ]
    if counted:
        calls = {k: n / counted[0]["bytes"] for k, n in traces.by_mode(counted[0]["calls"]).items()}
        found["calls_per_byte"] = calls
        total = sum(calls.values())
        found["ns_per_call"] = found["added_ns_per_byte"]["estimate"] / total if total else None
    return found


def measure(folder: Path, work: Path, modes: list[Mode], options: Row) -> Results:
    """All that is missing, then what follows from it."""
    settings = {"seconds": options["seconds"], "load": list(LOAD)}
    results = Results(folder, "overhead-toggle", settings)
    missing = [
        (kind, mode)
        for kind in KINDS
        for mode in modes
        if len(windows(results.runs, kind, mode.name)) < options["windows"]
        or not results.having(counted=True, subject=kind, mode=mode.name)
    ]
    if missing:
        with Side(Observer("traced", traced=True), work, "toggle", 1) as side:
            toggle = Toggle(side, results, options["seconds"])
            for kind in dict.fromkeys(kind for kind, _ in missing):
                with toggle.subject(kind, options["map_megabytes"]) as subject:
                    for mode in [mode for of, mode in missing if of == kind]:
                        toggle.pairs(subject, mode, options["windows"])
                        toggle.count(subject, mode)
    found = [summed(results.runs, kind, mode) for kind in KINDS for mode in modes]
    results.conclude([row for row in found if row])
    return results
