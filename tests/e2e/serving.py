"""A JVM that does what it is told, and a collector of one's own, for tests of what runs long."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.e2e import commands

from iostrata.artifacts import native_binary
from iostrata.record.collector import key_values


class Serving:
    """The process of Serves.java, or of another program that answers each line."""

    def __init__(
        self,
        classes: Path,
        home: Path,
        *options: str,
        main: str = "Serves",
        stderr: IO[str] | None = None,
    ) -> None:
        self.child = subprocess.Popen(
            [str(home / "bin/java"), *options, "-cp", str(classes), main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        self.pid = self.child.pid
        assert self.answer() == "ready"

    def answer(self) -> str:
        assert self.child.stdout is not None
        return self.child.stdout.readline().strip()

    def tell(self, *words: object) -> str:
        assert self.child.stdin is not None
        self.child.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.child.stdin.flush()
        return self.answer()

    def end(self) -> int:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        self.child.stdout.close()
        return self.child.wait(timeout=180)


@contextmanager
def serving(
    classes: Path,
    home: Path,
    *options: str,
    main: str = "Serves",
    stderr: IO[str] | None = None,
) -> Iterator[Serving]:
    one = Serving(classes, home, *options, main=main, stderr=stderr)
    try:
        yield one
    finally:
        if one.child.poll() is None:
            assert one.end() == 0


def seen_by(page: Path) -> bytes:
    """What an agent saw last; nothing when its process has ended since it was listed."""
    try:
        return page.read_bytes()[52:56]
    except FileNotFoundError:
        return b""


def describes_itself(directory: Path) -> bool:
    """Whether its collector has said who it is: before, it holds a file that is empty."""
    return "version" in key_values(directory / "collector")


class Node:
    """A collector with a directory and a store of its own, and the command line on both."""

    def __init__(self, folder: Path, directory: Path, within: Sequence[str] = ()) -> None:
        self.folder = folder
        self.dir = directory
        self.store = folder / "store"
        self.environment = {**os.environ, "IOSTRATA_STORE": str(self.store)}
        self.within = within

    def collect(self) -> None:
        """Starts the collector, anew when it was killed."""
        (self.dir / "collector").unlink(missing_ok=True)
        words = [*self.within, native_binary(), "collect", "--grace", "1s", "--dir", self.dir]
        words += ["--store", self.store, "--spool", self.folder / "spool"]
        with (self.folder / "collector.log").open("ab") as log:
            self.child = subprocess.Popen([str(word) for word in words], stderr=log)
        wait_until(lambda: describes_itself(self.dir) or self.child.poll() is not None)

    @property
    def collector(self) -> int:
        """Its process."""
        return self.child.pid

    def log(self) -> str:
        """What the collector said."""
        return (self.folder / "collector.log").read_text()

    def iostrata(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = commands.run(words, self.environment, self.folder, 180)
        print(f"$ iostrata {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    @contextmanager
    def recording(self, run: str, *options: str) -> Iterator[None]:
        """Records for as long as the block lasts; the run has ended and is published behind it."""
        began, over = self.folder / f"{run}-began", self.folder / f"{run}-over"
        script = f"touch {began}; while [ ! -e {over} ]; do sleep 0.05; done"
        words = ["record", "--dir", str(self.dir), "--run", run, *options, "--", "sh", "-c", script]
        child = subprocess.Popen(
            [sys.executable, "-m", "iostrata", *words],
            env=self.environment,
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_until(lambda: began.exists() or child.poll() is not None)
            # a recorder goes on after three seconds, without agents that were not given the CPU
            wait_until(self.followed)
            yield
        finally:
            over.touch()
            _, said = child.communicate(timeout=120)
            print(said)
        assert child.returncode == 0
        wait_until(self.followed)

    def followed(self) -> bool:
        """All agents have done what the control page says; offsets as in schema/events.toml."""
        word = (self.dir / "control").read_bytes()[16:20]
        return all(seen in (word, b"") for seen in map(seen_by, self.dir.glob("*/*/process")))

    def traces(self, pid: int) -> list[Path]:
        """Directories of a process in shared memory."""
        return list(self.dir.glob(f"*/{pid}-*"))


@contextmanager
def node(place: Path, within: Sequence[str] = (), **environment: str) -> Iterator[Node]:
    """A collector that is gone afterwards, with all that it left in shared memory; `within` are
    words before its command.
    """
    from iostrata.artifacts import stage_agent

    place.mkdir(exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix=f"iostrata-test-{os.getuid()}-", dir="/dev/shm"))
    directory.chmod(0o755 if os.getuid() == 0 else 0o711)  # as a collector makes its own
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        stage_agent(directory)
    finally:
        os.environ.clear()
        os.environ.update(before)
    one = Node(place, directory, within)
    one.environment.update(environment)
    one.collect()
    try:
        yield one
    finally:
        one.child.terminate()
        one.child.wait(timeout=180)
        shutil.rmtree(directory)


def wait_until(true: Callable[[], bool], timeout: float = 180) -> None:
    """Fails when it does not become true."""
    deadline = time.monotonic() + timeout
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)
