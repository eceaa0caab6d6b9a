"""What must be so that everything is traced; each check says what it found and how to mend it."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from iostrata import jdks
from iostrata.artifacts import agent_jar, native_binary
from iostrata.errors import UserError
from iostrata.record.collector import NODE_DIR, collector_of, distrust
from iostrata.record.jvms import running_jvms
from iostrata.records import Record

SHM = Path("/dev/shm")
ENOUGH_SHM = 256 * 1024**2
OLDEST_JAVA = 8


class Check(Record, frozen=True):
    """`state`: ok, warning (something would not be traced) or bad (recording would fail); `found`:
    what is so; `remedy`: how to mend it.
    """

    name: str
    state: Literal["ok", "warning", "bad"]
    found: str
    remedy: str = ""


def run_checks() -> list[Check]:
    """All checks, in the order of CHECKS; none changes anything."""
    return [check for checks in CHECKS for check in checks()]


def java() -> Iterable[Check]:
    """Each Java that PATH, JAVA_HOME or the usual folder names, with its version."""
    homes = jdks.homes()
    for home in homes:
        major, text = jdks.version(home) or (OLDEST_JAVA, "version not known")
        if major < OLDEST_JAVA:
            yield Check("java", "bad", f"{home}: {text}", f"use Java {OLDEST_JAVA} or newer")
        else:
            yield Check("java", "ok", f"{home}: {text}")
    if not homes:
        yield Check("java", "bad", "no JDK found", "apt-get install openjdk-17-jdk-headless")


def shared_memory() -> Iterable[Check]:
    """/dev/shm: there, ours to write, large enough."""
    try:
        status, space = SHM.stat(), os.statvfs(SHM)
    except OSError as error:
        yield Check(
            "/dev/shm", "bad", str(error.strerror), "mount -t tmpfs -o mode=1777 tmpfs /dev/shm"
        )
        return
    total, free = space.f_frsize * space.f_blocks, space.f_frsize * space.f_bavail
    mode = status.st_mode & 0o7777
    flags = ", noexec" if space.f_flag & os.ST_NOEXEC else ""
    room = f"{total >> 20} MiB, {free >> 20} MiB free, mode {mode:04o}{flags}"
    if not os.access(SHM, os.W_OK | os.X_OK) or space.f_flag & os.ST_RDONLY:
        yield Check("/dev/shm", "bad", f"{room}, not writable", "chmod 1777 /dev/shm")
    elif free < ENOUGH_SHM:
        yield Check(
            "/dev/shm",
            "warning",
            room,
            "detail would be dropped (totals stay exact): free some, or docker run --shm-size=1g",
        )
    else:
        yield Check("/dev/shm", "ok", room)


def rights() -> Iterable[Check]:
    """Whether processes of other users can be seen and their events read."""
    uid = os.getuid()
    if uid == 0:
        yield Check("rights", "ok", "uid 0: can trace every user's processes")
        return
    try:
        Path("/proc/1/stat").read_text()
        others = "processes of others are visible"
    except OSError:
        others = "processes of others are hidden (hidepid)"
    yield Check(
        "rights",
        "ok" if collector_of(NODE_DIR) else "warning",
        f"uid {uid}: {others}",
        "" if collector_of(NODE_DIR) else "daemons of other users need a collector run as root",
    )


def agent() -> Iterable[Check]:
    """The agent's jar, which every traced user must be able to read."""
    try:
        jar = agent_jar()
    except UserError as error:
        yield Check("agent", "bad", error.message, error.remedy)
        return
    closed = [path for path in (jar, *jar.parents) if not _open_to_all(path)]
    if closed:
        yield Check(
            "agent",
            "warning",
            f"{jar}: other users cannot reach {closed[-1]}",
            "put a copy where all may read it and set IOSTRATA_AGENT",
        )
    else:
        yield Check("agent", "ok", f"{jar} ({jar.stat().st_size >> 10} KiB)")


def _open_to_all(path: Path) -> bool:
    return bool(path.stat().st_mode & (0o001 if path.is_dir() else 0o004))


def native() -> Iterable[Check]:
    """The native binary: it starts and says its version."""
    try:
        binary = native_binary()
        version = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=10, check=True
        )
    except UserError as error:
        yield Check("native", "bad", error.message, error.remedy)
    except (OSError, subprocess.SubprocessError) as error:
        yield Check("native", "bad", f"{binary} does not run: {error}", "build it here: make build")
    else:
        yield Check("native", "ok", f"{binary}: {version.stdout.strip()}")


def collector() -> Iterable[Check]:
    """The node's collector, and those of labs."""
    node = collector_of(NODE_DIR)
    if node is not None:
        yield Check("collector", "ok", f"pid {node.pid}, uid {node.uid}, store {node.store}")
    elif (doubt := distrust(NODE_DIR)) is not None:
        yield Check("collector", "bad", doubt.message, doubt.remedy)
    else:
        yield Check("collector", "ok", "none on this node: record starts one for each run")
    for directory in sorted(SHM.glob("iostrata-lab-*")):
        running = collector_of(directory)
        if running is None:
            remedy = f"iostrata lab down {directory.name.removeprefix('iostrata-lab-')}"
            yield Check("collector", "warning", f"the collector of {directory} is gone", remedy)
        else:
            yield Check("collector", "ok", f"{directory}: pid {running.pid}, store {running.store}")


def limits() -> Iterable[Check]:
    """Open files and processes."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= files < 1024:
        yield Check("limits", "warning", f"{files} open files", "ulimit -n 4096")
    else:
        shown = "unlimited" if files == resource.RLIM_INFINITY else str(files)
        yield Check("limits", "ok", f"{shown} open files")


def jvms() -> Iterable[Check]:
    """JVMs that are running and would not be traced."""
    running = running_jvms()
    for jvm in running:
        if jvm.reason:
            yield Check("jvm", "warning", f"{jvm.name} pid {jvm.pid}: {jvm.reason}", jvm.remedy)
    traced = sum(1 for jvm in running if not jvm.reason)
    yield Check("jvms", "ok", f"{len(running)} running, {traced} of them with the agent")


CHECKS: tuple[Callable[[], Iterable[Check]], ...] = (
    java,
    shared_memory,
    rights,
    agent,
    native,
    collector,
    limits,
    jvms,
)
