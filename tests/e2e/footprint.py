"""What tracing holds in a JVM and beside it: read from outside, by the kernel and by jcmd."""

from __future__ import annotations

import re
import subprocess
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.serving import wait_until

# num: instances bytes class
HISTOGRAM = re.compile(r"^\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)", re.M)
TOTAL = re.compile(r"^Total\s+\d+\s+(\d+)", re.M)
SCHEMA = tomllib.loads(Path(__file__).parents[2].joinpath("schema/events.toml").read_text("utf-8"))
ROWS_AT: int = SCHEMA["segment"]["rows"]
# Held open by the JVM; looked at every now and then by the agent, and closed at once.
UNCOUNTED = (".jar", "/control")
LOOKS, BETWEEN = 5, 0.1  # s
VERSION = re.compile(r"\.v\d+_\d+_\d+\b")


@dataclass(frozen=True)
class Footprint:
    """A JVM after a full garbage collection."""

    ours: dict[str, tuple[int, int]]  # instances and bytes, by class of iostrata
    heap: int  # bytes of all live objects
    threads: int  # at most, while its objects were counted
    our_threads: int
    descriptors: int
    our_descriptors: int  # of files in the directory of traces; the JVM keeps its jar open
    mapped: list[str]  # files there that are in its memory
    rows: int  # counter rows in use of the segments it had at any time of the look

    @property
    def our_heap(self) -> int:
        """Bytes of our classes, without the arrays and strings they lead to."""
        return sum(size for _, size in self.ours.values())

    def instances(self, name: str) -> int:
        """Of the one class of that name, wherever its package is."""
        return sum(n for cls, (n, _) in self.ours.items() if cls.rpartition(".")[2] == name)

    def segments(self) -> int:
        return sum(name.endswith(".seg") for name in self.mapped)

    def row(self) -> dict[str, int]:
        """In numbers, for a log."""
        return {
            "our_instances": sum(n for n, _ in self.ours.values()),
            "our_bytes": self.our_heap,
            "rows": self.rows,
            "heap_bytes": self.heap,
            "threads": self.threads,
            "descriptors": self.descriptors,
            "segments": self.segments(),
            "thread_logs": self.instances("ThreadLog"),
        }


def footprint(pid: int, java_home: Path, directory: Path) -> Footprint:
    """Collects until what is unreachable is unmapped, which a thread does behind it.

    Objects are counted at some time between two looks at threads and segments, which end meanwhile.
    Fails when files that are gone stay in its memory.
    """
    jcmd = [str(java_home / "bin/jcmd"), str(pid)]

    def collected() -> bool:
        subprocess.run([*jcmd, "GC.run"], check=True, capture_output=True)
        return not any(name.endswith("(deleted)") for name in mapped(pid, directory))

    wait_until(collected)
    threads, rows = len(tasks(pid)), rows_by_segment(pid, directory)
    said = subprocess.run(
        [*jcmd, "GC.class_histogram"], check=True, capture_output=True, text=True
    ).stdout
    total = TOTAL.search(said)
    assert total, said[-400:]
    # [Lio.iostrata…; is an array of them
    ours = {
        VERSION.sub("", cls): (int(n), int(size))
        for n, size, cls in HISTOGRAM.findall(said)
        if "io.iostrata" in cls
    }
    descriptors = held(pid)
    names = [name_of(task) for task in tasks(pid)]
    for name, count in rows_by_segment(pid, directory).items():
        rows[name] = max(count, rows.get(name, 0))  # a thread may have it since that knows fewer
    return Footprint(
        ours=ours,
        heap=int(total[1]),
        threads=max(threads, len(names)),
        our_threads=sum(name.startswith("iostrata") for name in names),
        descriptors=len(descriptors),
        our_descriptors=sum(
            link.startswith(f"{directory}/") and not link.endswith(UNCOUNTED)
            for link in descriptors
        ),
        mapped=mapped(pid, directory),
        rows=sum(rows.values()),
    )


def tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def rows_by_segment(pid: int, directory: Path) -> dict[str, int]:
    """Counter rows in use (schema/SEGMENT.md) of each that is still there when it is read."""
    found = {}
    for name in mapped(pid, directory):
        if name.endswith(".seg"):
            with suppress(FileNotFoundError), Path(name).open("rb") as file:
                file.seek(ROWS_AT)
                found[name] = int.from_bytes(file.read(4), "little")
    return found


def name_of(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except OSError:  # it has ended
        return ""


def held(pid: int) -> list[str]:
    """Descriptors open in each of several looks: what is opened for a look and closed is left out.

    A process that waits for a processor may have such a one open for a while.
    """
    found = set(links(pid))
    for _ in range(LOOKS - 1):
        time.sleep(BETWEEN)
        found &= set(links(pid))
    return [link for _, link in found]


def links(pid: int) -> Iterator[tuple[str, str]]:
    """Number and link of each descriptor."""
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed since
            yield path.name, str(path.readlink())


def mapped(pid: int, directory: Path) -> list[str]:
    """Files of traces in the memory of a process, each once."""
    begin = f"{directory}/{Path(f'/proc/{pid}').stat().st_uid}/"
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return sorted({line[line.index(begin) :] for line in lines if begin in line})


def left_in_tmp(pids: set[int]) -> list[Path]:
    """What JVMs that have ended left in /tmp: their performance data, and the sockets by which
    somebody, like jcmd, attached to them.
    """
    places = (Path("/tmp").glob("hsperfdata_*/*"), Path("/tmp").glob(".java_pid*"))
    owners = {path: path.name.removeprefix(".java_pid") for place in places for path in place}
    return [
        path
        for path, pid in owners.items()
        if pid.isdigit() and int(pid) in pids and not Path(f"/proc/{pid}").exists()
    ]


def wait_gone(pids: set[int], directory: Path) -> None:
    """Until no process of these has traces there in its memory: a number is given again."""

    def lives(pid: int) -> bool:
        try:
            return mapped(pid, directory) != []
        except OSError:
            return False

    wait_until(lambda: not any(map(lives, pids)))
