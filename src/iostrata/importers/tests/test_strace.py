"""Traces that strace makes here, of programs whose I/O is known, and lines as it writes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.merged import MergedSize, merged
from iostrata.analyse.patterns import Pattern, patterns
from iostrata.importers.tests.conftest import Imported
from iostrata.store.opened import OpenedRun

REAL = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
PROGRAM = """
import os, socket, sys, threading
os.chdir(sys.argv[1])
odd = 'a b\\n"q"\\u00fc<x>, [1'
file = os.open(odd, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(file, b"x" * 1000)
os.pwrite(file, b"y" * 10, 5000)
os.lseek(file, 100, os.SEEK_SET)
os.read(file, 200)
copy = os.dup(file)
os.read(copy, 50)
os.close(file)
os.pread(copy, 100, 0)
os.readv(copy, [bytearray(10), bytearray(20)])
os.fsync(copy)
os.close(copy)
try:
    os.open("absent", os.O_RDONLY)
except OSError:
    pass
receive, send = os.pipe()
shared = os.open("shared", os.O_RDWR | os.O_CREAT)
child = os.fork()
if child == 0:
    os.read(receive, 5)
    os.write(shared, b"child")
    os._exit(3)
os.write(send, b"hello")
os.waitpid(child, 0)
os.write(shared, b"parent")
near, far = socket.socketpair()
near.send(b"abc")
far.recv(10)
logged = os.open("app.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
thread = threading.Thread(target=lambda: os.write(logged, b"thread"))
thread.start()
thread.join()
source, sink = os.open("shared", os.O_RDONLY), os.open("sink", os.O_WRONLY | os.O_CREAT)
os.sendfile(sink, source, 0, 7)
os.lseek(source, 2, os.SEEK_SET)
os.copy_file_range(source, sink, 4)
os.rename("sink", "renamed")
os.write(sink, b"!")
os.kill(os.getpid(), 9)
"""


def trace(folder: Path, *options: str) -> Path:
    """What strace says of PROGRAM, which works in a folder `files`."""
    (folder / "files").mkdir()
    (folder / "program.py").write_text(PROGRAM)
    program = [sys.executable, "-I", "-S", str(folder / "program.py"), str(folder / "files")]
    command = ["strace", *options, "-o", str(folder / "trace.txt"), *program]
    subprocess.run(command, check=False, capture_output=True)
    return folder / "trace.txt"


def moved(opened: OpenedRun, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Calls that moved data in a folder: per file operation, offset, bytes; in order."""
    rows = opened.rows(
        'SELECT target, op, "offset", bytes FROM calls WHERE starts_with(target, $1) '
        "AND op IN ('read', 'write', 'transfer') ORDER BY start, span",
        [f"{folder}/"],
    )
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        name = row["target"].removeprefix(f"{folder}/")
        found.setdefault(name, []).append((row["op"], row["offset"], row["bytes"]))
    return found


@REAL
def test_a_program_did_what_it_did(tmp_path: Path, imported: Imported) -> None:
    # WHEN a program is traced and its trace imported
    opened = imported(trace(tmp_path, "-f", "-ttt", "-T", "-y"))
    # THEN every byte of its files is where it was
    assert moved(opened, tmp_path / "files") == {
        'a b\n"q"ü<x>, [1': [
            ("write", 0, 1000), ("write", 5000, 10), ("read", 100, 200), ("read", 300, 50),
            ("read", 0, 100), ("read", 350, 30),
        ],
        "shared": [("write", 0, 5), ("write", 5, 6), ("transfer", 0, 7), ("transfer", 2, 4)],
        "app.log": [("write", None, 6)],
        "sink": [("write", 0, 7), ("write", 7, 4)],
        "renamed": [("write", 11, 1)],
    }  # fmt: skip
    # AND pipes, sockets and errors are what they are
    rows = opened.rows(
        "SELECT category, op, sum(bytes)::INT AS bytes FROM calls "
        "WHERE category IN ('pipe', 'socket') AND bytes > 0 GROUP BY ALL ORDER BY ALL"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("pipe", "read", 5),
        ("pipe", "write", 5),
        ("socket", "receive", 3),
        ("socket", "send", 3),
    ]
    failed = opened.rows("SELECT op, error, target FROM calls WHERE ends_with(target, '/absent')")
    assert [(row["op"], row["error"]) for row in failed] == [("open", "ENOENT")]
    # AND there are two processes, one of them with two threads
    processes = opened.rows('SELECT "exit", "end" > start AS lived FROM processes ORDER BY proc')
    assert [tuple(row.values()) for row in processes] == [("killed", True), ("ended", True)]
    threads = opened.rows("SELECT count(DISTINCT tid) AS n FROM calls GROUP BY proc ORDER BY proc")
    assert [row["n"] for row in threads] == [2, 1]
    run = opened.run
    assert (run.exit, run.state, run.command[1:3]) == (137, "failed", ("-I", "-S"))
    assert run.source is not None
    assert run.source.not_understood == 0
    # AND sums are of the same calls
    (sums,) = opened.rows("SELECT sum(count)::INT AS n, sum(bytes)::INT AS bytes FROM sums")
    (calls,) = opened.rows("SELECT count(*)::INT AS n, sum(bytes)::INT AS bytes FROM calls")
    assert sums == calls


@REAL
def test_without_names_paths_are_those_of_arguments(tmp_path: Path, imported: Imported) -> None:
    opened = imported(trace(tmp_path, "-f", "-ttt"))
    found = opened.rows(
        "SELECT op, \"offset\", bytes, dur FROM calls WHERE target = 'shared' AND bytes > 0 "
        "ORDER BY start, span"
    )
    assert [tuple(row.values()) for row in found] == [
        ("write", 0, 5, None), ("write", 5, 6, None), ("transfer", 0, 7, None),
        ("transfer", 2, 4, None),
    ]  # fmt: skip
    assert "no durations: strace ran without -T" in opened.run.message


LINES = """\
7 100.000000 execve("/bin/job", ["job", "a b"], 0x7ffd /* 3 vars */) = 0 <0.000100>
7 100.001000 openat(AT_FDCWD</w>, "in", O_RDONLY) = 3</w/in> <0.000010>
7 100.002000 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>
8 100.002500 read(3</w/in>,  <unfinished ...>
7 100.002600 <... clone resumed>, child_tidptr=0x7f) = 8 <0.000600>
7 100.003000 read(3</w/in>, "\\x01) = 9 <"..., 4096) = 10 <0.000020>
strace: Process 8 attached
8 100.003500 <... read resumed>"x", 100) = 90 <0.001000>
8 100.004000 --- SIGTERM {si_signo=SIGTERM} ---
8 100.004100 read(3</w/in>, 0x7f, 4) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
8 100.005000 read(3</w/in>, "y", 4) = 4 <0.000100>
8 100.006000 +++ exited with 0 +++
7 100.007000 write(1</dev/pts/0<char 136:0>>, "out", 3) = 3 <0.000005>
7 100.008000 futex(0x7f, FUTEX_WAIT, 0, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.1>
7 100.009000 pread64(3</w/in>, 0x7f, 10, 0) = -1 EIO (Input/output error) <0.000100>
what is this
7 100.010000 sendto(4<TCP:[10.0.0.2:4711->10.0.0.1:80]>, "GET", 3, 0, NULL, 0) = 3 <0.000010>
7 100.011000 write(5</w/[odd> </w/out>, "abc
"""


def test_lines_as_strace_writes_them(imported: Imported) -> None:
    opened = imported(LINES)
    # the child reads on where the parent is; a half call counts from its begin
    rows = opened.rows(
        'SELECT pid, op, "offset", bytes, asked, dur, error, target, peer FROM calls '
        "WHERE op <> 'open' ORDER BY start"
    )
    assert [tuple(row.values()) for row in rows] == [
        (8, "read", 10, 90, 100, 1_000_000, None, "/w/in", None),
        (7, "read", 0, 10, 4096, 20_000, None, "/w/in", None),
        (8, "read", 100, 0, 4, None, "ERESTARTSYS", "/w/in", None),
        (8, "read", 100, 4, None, 100_000, None, "/w/in", None),
        (7, "write", None, 3, None, 5_000, None, "/dev/pts/0<char 136:0>", None),
        (7, "read", 0, 0, 10, 100_000, "EIO", "/w/in", None),
        (7, "send", None, 3, None, 10_000, None, "TCP:[10.0.0.2:4711->10.0.0.1:80]",
         "10.0.0.1:80"),
    ]  # fmt: skip
    assert opened.run.command == ("job", "a b")
    assert (opened.run.start, opened.run.state) == (100_001_000_000, "incomplete")
    assert opened.run.message == (
        "imported from strace; 2 of 18 lines not understood (the first: trace0:16); "
        "incomplete: the last line of trace0 is cut off; left out: 3 calls that are no I/O"
    )


def test_a_call_that_never_returned_is_unfinished(imported: Imported) -> None:
    opened = imported(
        '1.000000 read(0<pipe:[1]>, "", 5) = 0 <0.1>\n'
        "2.000000 read(0<pipe:[1]>,  <unfinished ...>\n+++ killed by SIGKILL +++\n"
    )
    rows = opened.rows("SELECT kind, op, start FROM events WHERE kind <> 'sum' ORDER BY start")
    assert [tuple(row.values()) for row in rows] == [
        ("call", "read", 10**9),
        ("unfinished", "read", 2 * 10**9),
    ]


def test_a_file_of_each_process_is_told_by_its_name(tmp_path: Path, imported: Imported) -> None:
    for pid in (11, 12):
        text = f'{pid}.0 open("/d", O_RDONLY) = 3</d> <0.1>\n{pid}.5 +++ exited with {pid} +++\n'
        (tmp_path / f"trace.{pid}").write_text(text)
    opened = imported(tmp_path / "trace.11", tmp_path / "trace.12")
    rows = opened.rows("SELECT pid, start FROM calls ORDER BY pid")
    assert [tuple(row.values()) for row in rows] == [(11, 11 * 10**9), (12, 12 * 10**9)]
    assert opened.run.exit == 11


def test_analyses_run_on_it(imported: Imported) -> None:
    text = 'open("/d", O_RDONLY) = 3</d> <0.001>\n'
    text += 'read(3</d>, ""..., 4096) = 4096 <0.001>\n' * 20
    lines = [f"9 {10 + i / 100:.6f} {line}" for i, line in enumerate(text.splitlines())]
    engine = DuckDb(imported("\n".join(lines)))
    (found,) = engine.records(patterns(), Pattern)
    assert (found.pattern, found.requests, found.target) == ("contiguous", 20, "/d")
    (row,) = engine.records(merged(), MergedSize)
    assert (row.runs, row.calls, row.bytes) == (1, 20, 20 * 4096)


def test_a_result_is_looked_through_once(imported: Imported) -> None:
    """Each end of a name could be the last: it took the square of their number."""
    line = f"1.5 read(0</d>, 0x1, 8) = 8<{'> ()' * 60_000}x\n"
    opened = imported(LINES + 3 * line)
    assert opened.run.message.startswith("imported from strace; 5 of ")  # two of them of LINES


def test_thirty_thousand_processes(imported: Imported) -> None:
    """Who made each of them was looked for among all."""
    lines = "".join(f"{pid} 1.5 read(0</d>, 0x1, 8) = 8 <0.1>\n" for pid in range(1, 30_001))
    opened = imported(lines)
    assert opened.rows("SELECT count(*) AS n FROM processes") == [{"n": 30_000}]
