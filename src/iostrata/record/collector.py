"""The collector of a directory: the one that is there, or one started for a run or a lab.

A collector describes itself in DIR/collector: key=value lines pid, pid_start, uid, host, store,
version. Whoever else could have written that file is not believed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

from iostrata.artifacts import native_binary
from iostrata.errors import UserError
from iostrata.processes import alive

NODE_DIR = Path("/dev/shm/iostrata")  # the protocol's place, owner checked below
START_TIMEOUT = 10.0
STOP_TIMEOUT = 40.0


@dataclass(frozen=True)
class Collector:
    """A live collector and what it drains; `started` when this process started it."""

    dir: Path
    store: Path
    pid: int
    pid_start: int
    uid: int
    host: str
    version: str
    started: bool = False

    @property
    def alive(self) -> bool:
        """False as soon as its process is gone."""
        return alive(self.pid, self.pid_start)


def key_values(path: Path) -> dict[str, str]:
    """A file of key=value lines; empty when it is not there or may not be read."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def collector_of(directory: Path) -> Collector | None:
    """The live collector of a directory that belongs to root or to us; None if there is none."""
    try:
        owner = directory.stat().st_uid
    except OSError:
        return None
    if owner not in (0, os.getuid()):
        return None
    facts = key_values(directory / "collector")
    try:
        collector = Collector(
            dir=directory,
            store=Path(facts["store"]),
            pid=int(facts["pid"]),
            pid_start=int(facts["pid_start"]),
            uid=int(facts["uid"]),
            host=facts.get("host", ""),
            version=facts.get("version", ""),
        )
    except (KeyError, ValueError):
        return None
    return collector if collector.alive else None


def has_successor(collector: Collector) -> bool:
    """True when another live collector drains the directory into the same store."""
    successor = collector_of(collector.dir)
    return successor is not None and successor.store == collector.store


def start_collector(directory: Path, store: Path, name: str, exit_when_idle: bool) -> Collector:
    """Starts a collector in a process group of its own and waits until it describes itself.

    `name` tells its spool and log in STORE/.spool apart. Raises UserError with its last line.
    """
    binary = native_binary()
    spool = store / ".spool" / name
    try:
        # Others pass through a store of root on their way to their own runs.
        store.mkdir(parents=True, exist_ok=True, mode=0o711 if os.getuid() == 0 else 0o700)
        spool.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(f"the store {store} cannot be made: {error.strerror}") from error
    log = spool / "collector.log"
    command = [binary, "collect", "--dir", directory, "--store", store, "--spool", spool]
    if exit_when_idle:
        command.append("--exit-when-idle")
    with log.open("ab") as sink:
        child = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        started = collector_of(directory)
        if started is not None and started.pid == child.pid:
            return replace(started, started=True)
        if child.poll() is not None:
            raise UserError(f"the collector did not start: {last_line(log)}", f"see {log}")
        time.sleep(0.01)
    child.kill()
    child.wait()
    raise UserError(f"the collector was not ready within {START_TIMEOUT:.0f} s", f"see {log}")


def stop_collector(collector: Collector) -> bool:
    """Ends a collector (SIGTERM: it publishes first) and removes its directory.

    False when it had to be killed: its spool then still holds events.
    """
    deadline = time.monotonic() + STOP_TIMEOUT
    if collector.alive:
        os.kill(collector.pid, signal.SIGTERM)
    nap = 0.001
    while collector.alive and time.monotonic() < deadline:
        time.sleep(nap)
        nap = min(nap * 1.5, 0.02)
    hangs = collector.alive
    if hangs:
        os.kill(collector.pid, signal.SIGKILL)
    shutil.rmtree(collector.dir, ignore_errors=True)
    return not hangs


def last_line(log: Path) -> str:
    """The last line of a log, or a word about its absence."""
    try:
        lines = log.read_text("utf-8", errors="replace").strip().splitlines()
    except OSError as error:
        return error.strerror or str(error)
    return lines[-1] if lines else "it said nothing"


def sweep() -> None:
    """Removes what private collectors of ours left in /dev/shm when they were killed."""
    for place in NODE_DIR.parent.glob(f"iostrata-{os.getuid()}-*"):
        if _abandoned(place):
            shutil.rmtree(place, ignore_errors=True)


def _abandoned(place: Path) -> bool:
    """Ours, no collector lives there, and none can be starting (a minute old)."""
    try:
        status = place.stat()
    except FileNotFoundError:  # its recording has just ended
        return False
    old = time.time() - status.st_mtime > 60
    return status.st_uid == os.getuid() and old and collector_of(place) is None
