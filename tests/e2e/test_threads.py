"""What each thread took, beside what the JVM and the C library say of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.e2e.conftest import Iostrata

SECOND = 10**9
# A thread still ends, or sleeps, when it has said what it took; the lives of some begin before the
# recording of their process is known to them.
MORE = SECOND // 20
# One thread computes and ends, one lives on. What each took, by its own clock.
PYTHON = """
import os, sys, threading, time
def work(file, cpu, rest):
    open(file, "rb").read()
    while time.thread_time_ns() < cpu:
        pass
    os.write(1, f"{threading.get_native_id()}\\t{time.thread_time_ns()}\\n".encode())
    time.sleep(rest)
file, rests = sys.argv[1], (0, 60)
threads = [
    threading.Thread(target=work, args=(file, 4 * 10**8, rest), daemon=rest > 0) for rest in rests
]
for each in threads: each.start()
threads[0].join()
time.sleep(1.5)
"""


def said(iostrata: Iostrata, key: str, *command: str) -> tuple[dict[str, int], dict[str, int]]:
    """ns of CPU of each thread, by a column that names it: by the program itself, and recorded."""
    done = iostrata("record", "--run", "r", *command)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    rows = iostrata("query", "--run", "r", "--format", "json", f"SELECT {key}, cpu FROM threads")
    found = {str(row[key]): row["cpu"] for row in json.loads(rows.stdout)}
    return {name: int(cpu) for name, cpu in lines}, found


def test_threads_of_a_jvm(program: Path, tmp_path: Path, iostrata: Iostrata) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1000)
    java = ("java", "-cp", str(program), "Shares", str(tmp_path / "file"))
    own, found = said(iostrata, "thread", "--", *java)
    assert len(own) == 3
    for name, cpu in own.items():
        assert cpu - MORE < found[name] < cpu + MORE, (name, own, found)
    groups = json.loads(iostrata("summary", "r", "--json").stdout)["threads"]
    assert groups[0]["name"] == "computes and ends"
    assert "computes and ends" in iostrata("summary", "r", "--full").stdout


def test_threads_of_a_native_program(tmp_path: Path, iostrata: Iostrata) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1000)
    python = (sys.executable, "-c", PYTHON, str(tmp_path / "file"))
    own, found = said(iostrata, "tid", "--native", "--", *python)
    assert len(own) == 2
    for tid, cpu in own.items():
        assert cpu - MORE < found[tid] < cpu + MORE, (tid, own, found)
