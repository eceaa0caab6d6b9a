"""What each tool sees of a program that says itself how much of what it does: Known.java."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure.cluster import IOSTRATA, Side
from bench.measure.results import say
from bench.peers import tools

from iostrata.schema.points import POINTS
from iostrata.store.opened import OpenedRun
from iostrata.store.runs import find_run

Row = dict[str, Any]
SOURCE = Path(__file__).with_name("Known.java")
# How OpenTelemetry (class.method) and HTrace (description) call what is no file or socket.
SPANS = {
    "FileInputStream.read": ("FileInputStream.read",),
    "FileOutputStream.write": ("FileOutputStream.write",),
    "RandomAccessFile.read": ("RandomAccessFile.read",),
    "RandomAccessFile.write": ("RandomAccessFile.write",),
    "FileChannel.read": ("FileChannelImpl.read",),
    "FileChannel.write": ("FileChannelImpl.write",),
    "FileChannel.transferTo": ("FileChannelImpl.transferTo",),
    "FileChannel.map": ("FileChannelImpl.map",),
    "AsynchronousFileChannel.read": ("SimpleAsynchronousFileChannelImpl$2.run",),
    "Socket send": ("Socket$SocketOutputStream.write",),
    "Socket receive": ("Socket$SocketInputStream.read",),
    "SocketChannel.write": ("SocketChannelImpl.write",),
    "SocketChannel.read": ("SocketChannelImpl.read",),
    # HTrace has no span for a call of a stream: one for each buffer that is summed and sent.
    "hdfs write": ("FSDataOutputStream$PositionCache.write", "PositionCache.write",
                   "DFSOutputStream#write"),
    "hdfs read": ("DFSInputStream.read",),
    "NameNode getFileInfo": ("DistributedFileSystem.getFileStatus", "getFileInfo"),
}  # fmt: skip


@dataclass(frozen=True)
class Truth:
    """One kind of I/O as the program itself counted it; `target`: a path, or the remote port."""

    kind: str
    count: int
    target: str

    @property
    def plain(self) -> str:
        return self.kind.removeprefix("killed ")


def truths(said: str) -> list[Truth]:
    """From the program's output."""
    found = []
    for line in said.splitlines():
        if line.startswith("KNOWN "):
            kind, count, _, target = line.removeprefix("KNOWN ").split("\t")
            found.append(Truth(kind, int(count), target))
    return found


class Program:
    """Known.java compiled against a lab's Hadoop, and run once as a client of that lab."""

    def __init__(self, side: Side, work: Path) -> None:
        self.side, self.work = side, work
        self.classes = work / "classes"
        self.path = side.lab.environment()["CLASSPATH"]
        javac = ["javac", "-Xlint:none", "-cp", self.path, "-d", str(self.classes), str(SOURCE)]
        subprocess.run(javac, check=True)

    def run(self, options: list[str], killed: bool, before: Iterable[str] = ()) -> list[Truth]:
        """`options` for its JVM; `before` the command that starts it."""
        files = self.work / "files"
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir()
        java = ["java", *options, "-cp", f"{self.classes}:{self.path}", "Known", str(files)]
        command = [*before, *java, f"/known-{killed}", *(["killed"] if killed else [])]
        output = self.work / "said"
        output.unlink(missing_ok=True)
        environment = {**self.side.environment, "IOSTRATA_STORE": str(self.work / "store")}
        child = self.side.group.popen(command, environment, output)
        code = child.wait(300)
        found = truths(output.read_text("utf-8", errors="replace"))
        if code not in ((-9, 137) if killed else (0,)) or not found:
            raise SystemExit(f"{' '.join(command)}: exit {code}\n{output.read_text()[-3000:]}")
        return found


def watch(program: Program, tool: str, options: str, seen: Callable[[], Counter[str]]) -> list[Row]:
    """The rows of one tool: a run that ends in order, and one that is killed."""
    rows = []
    for killed in (False, True):
        say(f"{tool}: known operations{', killed' if killed else ''}")
        found = program.run(options.split(), killed)
        names = seen()
        rows += [row(tool, truth, names[_key(tool, truth)]) for truth in found]
    return rows


def row(tool: str, truth: Truth, seen: int) -> Row:
    return {"tool": tool, "kind": truth.kind, "truth": truth.count, "seen": seen}


def _key(tool: str, truth: Truth) -> str:
    """JFR names files and remote ports, the others kinds."""
    return truth.target if tool.startswith("jfr") else truth.plain


def jfr_seen(folder: Path) -> Counter[str]:
    """Events by path or remote port."""
    found: Counter[str] = Counter()
    for _, fields in tools.jfr_events(folder):
        found[str(fields["path"] if "path" in fields else fields["port"])] += 1
    tools.empty(folder)
    return found


def spans_seen(names: Counter[str]) -> Counter[str]:
    """Spans by kind."""
    return Counter({kind: sum(names[name] for name in of) for kind, of in SPANS.items()})


def iostrata_rows(program: Program, tool: str, options: Iterable[str]) -> list[Row]:
    """The same for iostrata itself, with a collector of the client's own."""
    rows = []
    for killed in (False, True):
        say(f"{tool}: known operations{', killed' if killed else ''}")
        name = f"{tool}-{killed}"
        record = [*IOSTRATA, "record", "--private", "--run", name, *options, "--"]
        found = program.run([], killed, before=record)
        with OpenedRun(find_run(program.work / "store", name)) as opened:
            rows += [row(tool, truth, _calls(opened, truth)) for truth in found]
    return rows


def _calls(opened: OpenedRun, truth: Truth) -> int:
    if truth.plain == "hdfs write":  # sums only: every call, without its target
        query = "FROM sums WHERE layer = 'fs' AND op = 'write' AND category = 'hdfs'"
        return int(opened.rows(f"SELECT coalesce(sum(count), 0)::BIGINT AS n {query}")[0]["n"])
    streams = [p.id for p in POINTS if p.cls.startswith("java.net.Socket$")]
    # Who accepted a connection knows its peer by the address: ports of clients mean nothing.
    accepted = "op = 'receive' AND target = '127.0.0.1' AND ? <> '' AND point"
    where = {
        "hdfs read": "layer = 'hdfs' AND op = 'read' AND target = ?",
        "NameNode getFileInfo": "layer = 'hdfs' AND op = 'stat' AND target = ?",
        "Socket receive": f"{accepted} IN {tuple(streams)}",
        "SocketChannel.read": f"{accepted} NOT IN {tuple(streams)}",
        "Socket send": "op = 'send' AND target = '127.0.0.1:' || ?",
        "SocketChannel.write": "op = 'send' AND target = '127.0.0.1:' || ?",
    }.get(truth.plain, "target = ?")
    query = f"SELECT count(*) AS n FROM calls WHERE layer IN ('java', 'hdfs') AND {where}"
    return int(opened.rows(query, [truth.target])[0]["n"])
