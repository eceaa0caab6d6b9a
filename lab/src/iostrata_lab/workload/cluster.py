"""The cluster that a workload runs on: what `hadoop` of an environment reaches."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from iostrata.errors import UserError
from iostrata_lab.artifacts import jobs_jar

_COMPLAINT = re.compile(r"^(?!\s+at ).*(?:Exception|Error)\b.*$", re.MULTILINE)
GRACE = 20.0  # s for a command that was asked to end


@dataclass(frozen=True)
class Facts:
    """What a cluster has: bytes without replicas, live nodes; of YARN zeros where it has none."""

    free: int
    replication: int
    datanodes: int
    nodemanagers: int
    memory: int  # bytes that containers may have
    cores: int
    job: int  # bytes of containers that a job needs: its ApplicationMaster and a task


@dataclass(frozen=True)
class ClusterClient:
    """Runs commands with the environment of a cluster's client."""

    environment: Mapping[str, str]

    def run(self, command: Sequence[str], output: Path | None = None) -> str:
        """Standard output of a command, all of whose output also goes to the file `output`.

        Raises UserError when it fails, with what it complained about. Ctrl-C ends the command, too.
        """
        path = shutil.which(command[0], path=self.environment.get("PATH"))
        if path is None:
            raise UserError(f"{command[0]} is not on the PATH", "name a lab: --lab NAME")
        running = None
        try:
            with _kept_signals() as received:
                running = self._started([path, *command[1:]])
            for number in received:
                signal.raise_signal(number)
            out, err = running.communicate()
        except BaseException:
            if running is not None:
                end(running)
            raise
        if output is not None:
            output.write_text(out + err)
        if running.returncode:
            raise _failed(command, running.returncode, out + err)
        return out

    def _started(self, command: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def hadoop(self, *words: str) -> str:
        """`hadoop WORDS`."""
        return self.run(["hadoop", *words])

    def job(self, name: str, *words: str, output: Path | None = None) -> str:
        """The program `name` of our jar of jobs (Main.java); `output` as in `run`."""
        return self.run(["hadoop", "jar", str(jobs_jar()), name, *words], output)

    def exists(self, path: str) -> bool:
        """Whether HDFS has it."""
        return self.job("exists", path).strip() == "true"

    def remove(self, path: str) -> None:
        """Removes it from HDFS with all below it; nothing happens where it is not."""
        self.hadoop("fs", "-rm", "-r", "-f", "-skipTrash", path)

    @cached_property
    def facts(self) -> Facts:
        """It is asked once."""
        return Facts(**json.loads(self.job("facts")))


@contextmanager
def _kept_signals() -> Iterator[list[int]]:
    """Those that come meanwhile: a command whose start they interrupted would go on, and nobody
    would know of it. Threads other than the first get none.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {
        number: signal.signal(number, lambda number, _frame: received.append(number))
        for number in ends
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _failed(command: Sequence[str], code: int, said: str) -> UserError:
    """The first exception that it named, or its last line; all of it is in a file that is left."""
    lines = said.strip().splitlines() or ["it said nothing"]
    found = _COMPLAINT.search(said)
    with tempfile.NamedTemporaryFile(
        "w", prefix="iostrata-hadoop-", suffix=".log", delete=False
    ) as log:
        log.write(said)
    what = (found[0] if found else lines[-1]).strip()
    message = f"{' '.join(command[:3])} … failed with {code}: {what}"
    return UserError(message, f"all it said: {log.name}", exit_code=1)


def end(running: subprocess.Popen[Any]) -> bool:
    """Ends a command with all that it started, in a session of its own; false if it had come to its
    end by itself.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, number)
            running.communicate(timeout=GRACE)
            break
        except ProcessLookupError:
            running.wait()
            return False
        except subprocess.TimeoutExpired:
            continue
    return True
