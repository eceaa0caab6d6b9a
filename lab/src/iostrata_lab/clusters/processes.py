"""Processes as /proc shows them: identity that survives pid reuse, memory, ports, ending."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostrata.processes import start_ticks, stat_fields

PROC = Path("/proc")
LISTEN = "0A"  # st of /proc/net/tcp, include/net/tcp_states.h
PAGE = os.sysconf("SC_PAGE_SIZE")

# Children stay referenced: a daemon outlives this program, so nobody waits for it, but while
# this program runs a dead one must be reaped or it looks alive to others.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Identity:
    """A pid together with its start in clock ticks since boot, so that a reused pid differs."""

    pid: int
    start: int


def boot() -> str:
    """The kernel's id of this boot: `Identity.start` means nothing after the next one."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> Identity | None:
    """Who has this pid now; None for nobody and for a zombie."""
    child = _children.get(pid)
    if child is not None:
        child.poll()
    start = start_ticks(pid)
    return None if start is None else Identity(pid, start)


def alive(process: Identity) -> bool:
    """True while this very process runs."""
    return identify(process.pid) == process


def spawn(
    argv: Sequence[str], env: Mapping[str, str], log: Path, cwd: Path, uid: int | None
) -> Identity:
    """Start a daemon in its own session, both outputs appended to `log`, as `uid` if given."""
    with log.open("ab") as out:
        child = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            **credentials(uid),
        )
    return adopt(child)


def adopt(child: subprocess.Popen[bytes]) -> Identity:
    """The identity of a child that is to outlive this program."""
    _children[child.pid] = child
    # A child that has already died is a zombie until identify() polls it: its stat is readable.
    return Identity(child.pid, int(stat_fields(child.pid)[19]))


def credentials(uid: int | None) -> dict[str, Any]:
    """The Popen arguments that make a child run as `uid` with its primary group only."""
    if uid is None or uid == os.geteuid():
        return {}
    try:
        gid = pwd.getpwuid(uid).pw_gid
    except KeyError:
        gid = uid
    return {"user": uid, "group": gid, "extra_groups": []}


def rss(pid: int) -> int:
    """Resident memory in bytes; 0 when the process is gone."""
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def command(pid: int) -> list[str]:
    """The command line of a process; empty when it is gone."""
    return _strings(pid, "cmdline")


def _strings(pid: int, name: str) -> list[str]:
    try:
        raw = (PROC / str(pid) / name).read_bytes()
    except OSError:
        return []
    return [part.decode(errors="replace") for part in raw.split(b"\0")[:-1]]


def listening(pid: int) -> list[int]:
    """The TCP ports on which a process listens, ascending; empty when not permitted to look."""
    inodes = set()
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                inodes.add(str(link.readlink()))
        tables = [(PROC / str(pid) / "net" / name).read_text() for name in ("tcp", "tcp6")]
    except OSError:
        return []
    ports = set()
    for row in "\n".join(tables).splitlines():
        fields = row.split()
        if len(fields) > 9 and fields[3] == LISTEN and f"socket:[{fields[9]}]" in inodes:
            ports.add(int(fields[1].rpartition(":")[2], 16))
    return sorted(ports)


def everyone() -> dict[int, int]:
    """All pids and their parents."""
    parents = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int(stat_fields(int(entry.name))[1])
    return parents


def descendants(roots: Iterable[int]) -> set[int]:
    """The pids below `roots`, without them."""
    parents = everyone()
    known = set(roots)
    found: set[int] = set()
    grown = True
    while grown:
        new = {pid for pid, parent in parents.items() if parent in known} - known
        known |= new
        found |= new
        grown = bool(new)
    return found


def marked(setting: str) -> set[int]:
    """The pids, but for this one, whose environment has `setting`, a NAME=value."""
    return {pid for pid in everyone() if setting in _strings(pid, "environ")} - {os.getpid()}


def send(process: Identity, number: signal.Signals) -> None:
    """Signal this very process; nothing happens if it has gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        # The descriptor pins whoever has the pid now, so the check cannot be overtaken by reuse.
        if alive(process):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)


def wait_gone(processes: Iterable[Identity], seconds: float) -> list[Identity]:
    """Wait until these have ended, at most `seconds`; returns those which have not."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if alive(process)]
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [process for process in left if alive(process)]
    return left
