"""The JVMs that run on this host, and why one of them is not traced."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from iostrata.schema.roles import OPTIONS


@dataclass(frozen=True)
class Jvm:
    """One running JVM; `reason` is empty when it has the agent."""

    pid: int
    uid: int
    name: str
    reason: str = ""
    remedy: str = ""


def running_jvms(proc: Path = Path("/proc")) -> list[Jvm]:
    """Every JVM that /proc shows, by process id."""
    pids = sorted(int(path.name) for path in proc.iterdir() if path.name.isdigit())
    return [jvm for jvm in (_jvm(proc / str(pid)) for pid in pids) if jvm is not None]


def _jvm(place: Path) -> Jvm | None:
    try:
        words = (place / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        uid = place.stat().st_uid
    except OSError:
        return None
    if Path(words[0]).name != "java":
        return None
    pid, name = int(place.name), main_class(words)
    traced = _has_agent(place, words)
    if traced:
        return Jvm(pid, uid, name)
    if traced is None:
        reason = f"it belongs to uid {uid} and cannot be looked into"
        return Jvm(pid, uid, name, reason, "run iostrata doctor as root")
    variable = OPTIONS.get(name, "JAVA_TOOL_OPTIONS")
    remedy = f"start it again with {variable} naming the agent (iostrata prepare hadoop)"
    return Jvm(pid, uid, name, "no agent", remedy)


def main_class(words: list[str]) -> str:
    """The simple name of the main class or jar of a java command line."""
    takes_value = {"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-opens"}
    rest = iter(words[1:])
    for word in rest:
        if word in takes_value:
            next(rest, None)
        elif word in ("-jar", "-m", "--module"):
            named = Path(next(rest, "java")).name
            return named if word == "-jar" else named.rpartition(".")[2]
        elif word and not word.startswith(("-", "@")):
            return word.rpartition(".")[2]
    return "java"


def has_live_agent(pid: int, proc: Path = Path("/proc")) -> bool:
    """Whether an agent of ours is at work in a JVM; a guess from its open files before JDK 9."""
    live = _has_live_thread(proc / str(pid))
    return bool(_has_agent(proc / str(pid), [])) if live is None else live


def _has_live_thread(place: Path) -> bool | None:
    """Whether the agent's thread is there; None when threads cannot be told by their names.

    JVMs before 9 do not tell the kernel the names of their threads: all are called `java`.
    """
    try:
        tasks = sorted((place / "task").iterdir())
        names = {(task / "comm").read_text("utf-8", "replace").strip() for task in tasks}
    except OSError:
        return None
    return "iostrata" in names if len(names) > 1 else None


def _has_agent(place: Path, words: list[str]) -> bool | None:
    """None when the process may not be looked into."""
    live = _has_live_thread(place)
    if live is not None:
        return live
    ours = ("iostrata-agent", "iostrata_loader")
    if any(word.startswith("-") and any(name in word for name in ours) for word in words):
        return True
    try:
        # The agent's jar stays open, so it is mapped or a descriptor names it.
        targets = (os.readlink(entry) for entry in (place / "fd").iterdir())  # noqa: PTH115
        return any("iostrata-agent" in target for target in targets)
    except OSError:
        return None
