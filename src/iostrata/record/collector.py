"""The collector of a directory: the one that is there, or one started for a run or a lab.

A collector describes itself in DIR/collector: key=value lines pid, pid_start, uid, host, store,
version. Whoever else could have written that file is not believed, nor is one without its end: the
begin of a path is another store.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from iostrata.artifacts import native_binary
from iostrata.errors import UserError
from iostrata.patience import Patience
from iostrata.processes import alive

NODE_DIR = Path("/dev/shm/iostrata")  # the protocol's place, owner checked below
LONGEST_KEY = 64  # ids::is_run_name of the collector
NOBODY = 65534  # whose all is that a user namespace does not know
ALL_UIDS = (1 << 32) - 1
START_TIMEOUT = 10.0
STOP_TIMEOUT = 40.0


@dataclass(frozen=True)
class Collector:
    """A live collector and what it drains; `started` when this process started it, as `child`."""

    dir: Path
    store: Path
    pid: int
    pid_start: int
    uid: int
    host: str
    version: str
    started: bool = False
    child: subprocess.Popen[bytes] | None = field(default=None, compare=False, repr=False)

    @property
    def alive(self) -> bool:
        """False as soon as its process is gone."""
        return alive(self.pid, self.pid_start)


def run_key(collector: Collector, run: str) -> str:
    """What the collector calls a run of ours, the name of its folder in the store.

    Each user that it serves besides its own has names of their own. Raises UserError for one that
    is too long then.
    """
    uid = os.geteuid()
    if uid == collector.uid:
        return run
    key = f"{run}.{uid}"
    if len(key) > LONGEST_KEY:
        most = LONGEST_KEY - len(str(uid)) - 1
        raise UserError(f"the name of run {run} is too long", f"use at most {most} characters")
    return key


def key_values(path: Path) -> dict[str, str]:
    """A file of key=value lines; empty when it is not there or may not be read."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def collector_of(directory: Path) -> Collector | None:
    """The live collector of a directory that nobody but root and we may change; None if there is
    none.
    """
    if distrust(directory):
        return None
    directory = directory.resolve()
    facts = key_values(directory / "collector")
    try:
        collector = Collector(
            dir=directory,
            store=Path(facts["store"]),
            pid=int(facts["pid"]),
            pid_start=int(facts["pid_start"]),
            uid=int(facts["uid"]),
            host=facts.get("host", ""),
            version=facts["version"],
        )
    except (KeyError, ValueError):
        return None
    return collector if collector.version and collector.alive else None


def distrust(directory: Path) -> UserError | None:
    """Why a collector's directory is not used, or is not there: others may write to it, or put
    another in its place, or in that of a folder above.
    """
    remedy = "its collector makes it so that only its own user writes there"
    try:
        directory = directory.resolve(strict=True)
        for place in (directory, *directory.parents):
            status = place.stat()
            hidden = place != directory and status.st_uid == NOBODY and _hides_owners()
            if status.st_uid not in (0, os.getuid()) and not hidden:
                owner = f"{place} belongs to uid {status.st_uid}"
                return UserError(f"{owner}, neither root nor {os.getuid()}", remedy)
            sticky = place != directory and status.st_mode & stat.S_ISVTX
            if status.st_mode & 0o022 and not sticky:
                return UserError(f"others may write to {place}", remedy)
    except OSError:
        return None if not directory.exists() else UserError(f"{directory} cannot be read", remedy)
    return None


def _hides_owners() -> bool:
    """In a user namespace that does not know all users, as one of `unshare --user` does: there
    even the root of the file system belongs to nobody.
    """
    try:
        known = Path("/proc/self/uid_map").read_text().split()
    except OSError:
        return False
    return known != ["0", "0", str(ALL_UIDS)]


def has_successor(collector: Collector) -> bool:
    """True when another live collector drains the directory into the same store."""
    successor = collector_of(collector.dir)
    return successor is not None and successor.store == collector.store


# Until it ends well, and five times at most: what fails at once will not do better.
AGAIN = 'for i in 1 2 3 4 5; do "$@" && exit; sleep 0.2; done; exit 1'


def start_collector(
    directory: Path,
    store: Path,
    name: str,
    exit_when_idle: bool,
    daemons: Collection[int] = (),
    supervised: bool = False,
) -> Collector:
    """Starts a collector in a process group of its own and waits until it describes itself.

    `name` tells its spool and log in STORE/.spool apart. `daemons` are uids whose processes serve
    other users. One that is `supervised` is started again when it fails, as a node's service
    manager does. Raises UserError with its last line.
    """
    binary = native_binary()
    spool = store / ".spool" / name
    try:
        # Others pass through a store of root on their way to their own runs.
        store.mkdir(parents=True, exist_ok=True, mode=0o711 if os.getuid() == 0 else 0o700)
        spool.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(f"the store {store} cannot be made: {error.strerror}") from error
    log = log_of(store, name)
    command = [binary, "collect", "--dir", directory, "--store", store, "--spool", spool]
    if exit_when_idle:
        command.append("--exit-when-idle")
    if daemons:
        command.append("--daemons=" + ",".join(map(str, daemons)))
    before = ["sh", "-c", AGAIN, "iostrata-collect"] if supervised else []
    with log.open("ab") as sink:
        child = subprocess.Popen(
            [*before, *(str(word) for word in command)],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    patience = Patience(START_TIMEOUT)
    while patience.lasts():
        started = collector_of(directory)
        if started is not None and (supervised or started.pid == child.pid):
            return replace(started, started=True, child=child)
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
    patience = Patience(STOP_TIMEOUT)
    if collector.alive:
        os.kill(collector.pid, signal.SIGTERM)
    nap = 0.001
    while collector.alive and patience.lasts():
        time.sleep(nap)
        nap = min(nap * 1.5, 0.02)
    hangs = collector.alive
    if hangs:
        os.kill(collector.pid, signal.SIGKILL)
    shutil.rmtree(collector.dir, ignore_errors=True)
    if collector.child is not None:
        with suppress(subprocess.TimeoutExpired):
            collector.child.wait(1)  # a supervisor may have been asked to start another one
    return not hangs


def log_of(store: Path, name: str) -> Path:
    """Where a collector that was started by that name writes what it has to say."""
    return store / ".spool" / name / "collector.log"


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
