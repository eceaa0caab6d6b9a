"""Control groups: the CPU of many processes as the kernel adds it up, dead ones included."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class Group:
    """A control group that this process's children can be started in; version 1 or 2."""

    def __init__(self, name: str, parent: Group | None = None) -> None:
        accounting = ROOT / "cpuacct"
        self.first = accounting.is_dir()
        base = parent.path if parent else (accounting if self.first else ROOT)
        self.path: Path = base / name
        try:
            self.path.mkdir(exist_ok=True)
        except OSError as error:
            sys.exit(f"{self.path}: {error.strerror}; run it as root, where control groups are")

    def child(self, name: str, pid: int) -> Group:
        """A group within this one that the process is moved into, with its threads.

        On version 2 it must be empty itself: that holds no controller, so it may be used.
        """
        inner = Group(name, self)
        (inner.path / "cgroup.procs").write_text(str(pid))
        return inner

    def enter(self) -> None:
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def cpu(self) -> float:
        """Seconds of CPU used so far, of all who are or were in it or below."""
        if self.first:
            return int((self.path / "cpuacct.usage").read_text()) / 1e9
        fields = dict(line.split() for line in (self.path / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6

    def pids(self) -> set[int]:
        """Processes that are in it or below now."""
        found: set[int] = set()
        for file in self.path.rglob("cgroup.procs"):
            with suppress(OSError):
                found |= {int(pid) for pid in file.read_text().split()}
        return found

    def popen(
        self, command: list[str], environment: dict[str, str], output: Path
    ) -> subprocess.Popen[bytes]:
        """Starts a command in the group, in a session of its own, both outputs into a file."""
        with output.open("ab") as sink:
            return subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,  # a Ctrl-C is ours to act on
                preexec_fn=self.enter,
            )

    def run(self, command: list[str], environment: dict[str, str], output: Path) -> str:
        """Runs a command in the group; ends the program if it fails. Returns what it said."""
        output.unlink(missing_ok=True)
        child = self.popen(command, environment, output)
        try:
            code = child.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                child.wait(60)  # a recorder publishes first
            raise
        said = output.read_text("utf-8", errors="replace")
        if code:
            sys.exit(f"{' '.join(command)}: exit {code}\n{said[-4000:]}")
        return said

    def remove(self) -> None:
        """Ends what is left in it, and removes it with all below."""
        for _ in range(100):
            folders = [self.path, *(p for p in self.path.rglob("*") if p.is_dir())]
            for folder in reversed(folders):
                with suppress(OSError):
                    for pid in (folder / "cgroup.procs").read_text().split():
                        with suppress(ProcessLookupError):
                            os.kill(int(pid), signal.SIGKILL)
                with suppress(OSError):
                    folder.rmdir()
            if not self.path.exists():
                return
            time.sleep(0.1)
        print(f"{self.path} is still there", file=sys.stderr)
