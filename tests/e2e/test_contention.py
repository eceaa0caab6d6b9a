"""What others on a host take from a run: a limit of CPU time, a disk that is busy, memory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.limits import CPU, MEMORY, cgroup

SECONDS = 5
PRESSURE = Path("/proc/pressure/memory")
BLOCK = 4 << 20
FILE = 256 << 20
REQUEST = 256 << 10  # of Rereads.java
IS_SEEN = 0.2  # of the time


def findings(iostrata: Iostrata, *command: str) -> dict[str, dict[str, Any]]:
    """Those of a run of the command, by rule."""
    done = iostrata("record", "--run", "r", "--", *command)
    assert done.returncode == 0, done.stderr
    found = json.loads(iostrata("findings", "r", "--json").stdout)["findings"]
    return {each["rule"]: each for each in found}


@contextmanager
def cpu_limit(percent: int) -> Iterator[Path]:
    """A cgroup that may use so much of one CPU; gone afterwards."""
    with cgroup(CPU) as group:
        period = int((group / "cpu.cfs_period_us").read_text())
        (group / "cpu.cfs_quota_us").write_text(str(period * percent // 100))
        # it is the limit that holds it back, however many others want the CPU
        (group / "cpu.shares").write_text("100000")
        yield group


@pytest.mark.skipif(
    os.getuid() != 0 or not (CPU / "cpu.stat").exists(), reason="needs root and a cpu cgroup (v1)"
)
def test_a_program_in_a_container_with_little_cpu(program: Path, iostrata: Iostrata) -> None:
    # less than it gets beside other tests
    with cpu_limit(8) as group:
        java = f"exec java -cp {program} Idles join {SECONDS}"
        found = findings(iostrata, "sh", "-c", f"echo $$ > {group}/cgroup.procs; {java}")
        # v1 says the time in ns
        stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    limit = found["cpu-limit"]
    assert not limit["because"]
    (time,) = (
        int(each["value"]) for each in limit["evidence"] if each["what"].startswith("time in which")
    )
    assert time <= int(stat["throttled_time"])


@contextmanager
def ended(busy: list[subprocess.Popen[bytes]]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Programs, each the first of a session, that are ended afterwards."""
    try:
        yield busy
    finally:
        for each in busy:
            with suppress(ProcessLookupError):  # it has ended, and was waited for
                os.killpg(each.pid, signal.SIGTERM)
            each.wait()


@contextmanager
def memory_limit(limit: int) -> Iterator[Path]:
    """A cgroup that may use so many bytes of memory; gone when its processes are."""
    with cgroup(MEMORY) as group:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group


def make_uncached(file: Path, size: int) -> None:
    """A file of which nothing is in memory: its pages will be of the cgroup that reads them first.

    One that was written inside a cgroup has pages that cannot be let go yet, and where these are
    too many the kernel kills processes of the cgroup.
    """
    file.write_bytes(bytes(size))
    subprocess.run(["sync", file], check=True)
    drop = ["dd", f"if={file}", "iflag=nocache", "count=0", "status=none"]
    subprocess.run(drop, check=True)


@contextmanager
def too_little_memory(folder: Path) -> Iterator[None]:
    """Two other programs read a file of 48 MiB again and again where 8 MiB may be in memory."""
    with memory_limit(8 << 20) as group, ended([]) as busy:
        for n in range(2):
            file = folder / f"others-{n}"
            make_uncached(file, 48 << 20)
            # A kernel may kill what finds no page to let go: what starts it again is outside.
            read = f"sh -c 'echo $$ > {group}/cgroup.procs; exec cat {file} > /dev/null'"
            loop = f"while :; do {read}; done 2> /dev/null"
            busy.append(subprocess.Popen(["sh", "-c", loop], start_new_session=True))
        yield
        assert [each.poll() for each in busy] == [None, None]


def stalled() -> int:
    """ns in which a thread of the host was stalled for memory."""
    some = PRESSURE.read_text().splitlines()[0]
    return int(some.rpartition("total=")[2]) * 1000


needs_memory_limit = pytest.mark.skipif(
    os.getuid() != 0 or not (MEMORY / "memory.limit_in_bytes").exists() or not PRESSURE.exists(),
    reason="needs root, a memory cgroup (v1), and pressure stall information",
)


@needs_memory_limit
def test_memory_that_others_lack(program: Path, iostrata: Iostrata, tmp_path: Path) -> None:
    """What the kernel says of the host is recorded, and is no matter of the run."""
    if not is_on_a_disk(tmp_path):
        pytest.skip(f"{tmp_path} is on no disk")
    with too_little_memory(tmp_path):
        before = stalled()
        found = findings(iostrata, "java", "-cp", str(program), "Idles", "join", str(SECONDS))
        grown = stalled() - before
    said = iostrata("query", "--run", "r", "SELECT sum(memory_pressure)::BIGINT AS ns FROM system")
    assert 0 < int(re.findall(r"\d+", said.stdout)[-1]) <= grown
    assert "memory-short" not in found


@needs_memory_limit
def test_a_file_that_does_not_fit_into_memory_is_read_again(
    program: Path, iostrata: Iostrata, tmp_path: Path
) -> None:
    """Each pass reads the disk: the file is larger than the cache that its cgroup leaves."""
    if not is_on_a_disk(tmp_path):
        pytest.skip(f"{tmp_path} is on no disk")
    file = tmp_path / "words"
    make_uncached(file, FILE)
    with memory_limit(FILE // 2) as group:
        enter = f"echo $$ > {group}/cgroup.procs"
        java = f"exec java -Xmx16m -cp {program} Rereads {file} {2 * SECONDS} > {tmp_path}/passes"
        found = findings(iostrata, "sh", "-c", f"{enter}; {java}")
    again = found["file-rereading"]
    assert again["severity"] == "severe"
    evidence = {each["what"]: each["value"] for each in again["evidence"]}
    assert evidence["file"] == str(file)
    # all bytes of all passes, and at the end of each a read that found no more; but for calls
    # that a busy machine had no time to take, of which only totals are known
    passes = int((tmp_path / "passes").read_text())
    dropped = json.loads(iostrata("summary", "r", "--json").stdout)["dropped"]
    lacking = passes * FILE - evidence["bytes that one process read from it"]
    assert 0 <= lacking <= dropped * REQUEST
    assert 0 <= passes - evidence["of them reads that found no more bytes"] <= dropped
    # AND most of them came from the disk
    sums = (
        "SELECT (SELECT sum(io_pressure) / sum(interval) FROM system) AS stalled, "
        "(SELECT sum(disk_read)::BIGINT FROM processes) AS read"
    )
    stalled, read = map(float, iostrata("query", "--run", "r", sums).stdout.split()[-2:])
    assert read > passes * FILE / 2
    # AND the disk is named where it is what the program waits for: beside others it may be the CPU
    if stalled > IS_SEEN:
        disks = found["disk-bound"]
        assert "most bytes of its calls were on" in disks["seen"]
        assert disks["because"]


@contextmanager
def writers(folder: Path) -> Iterator[None]:
    """Two other programs write past the cache all the time, each to a file of 64 MiB."""
    dd = f"dd if=/dev/zero bs={BLOCK} count=16 oflag=direct conv=notrunc 2> {folder}/said"
    loops = [f"while {dd} of={folder}/others-{n}; do :; done" for n in range(2)]
    busy = [subprocess.Popen(["sh", "-c", loop], start_new_session=True) for loop in loops]
    with ended(busy):
        yield
        assert [each.poll() for each in busy] == [None, None]


def is_on_a_disk(folder: Path) -> bool:
    """Of one that the kernel keeps statistics of; a tmpfs is on none."""
    device = folder.stat().st_dev
    disks = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    return any((os.major(device), os.minor(device)) == (int(d[0]), int(d[1])) for d in disks)


def test_a_disk_that_another_program_keeps_busy(
    program: Path, iostrata: Iostrata, tmp_path: Path
) -> None:
    if not is_on_a_disk(tmp_path):
        pytest.skip(f"{tmp_path} is on no disk")
    with writers(tmp_path):
        file = str(tmp_path / "own")
        found = findings(iostrata, "java", "-cp", str(program), "Syncs", file, str(SECONDS))
    taken = found["disk-taken"]
    assert "processes that were not traced moved" in taken["seen"]
    assert "local-sync" not in [rule for rule, each in found.items() if not each["because"]]
