"""Requests to block devices, whose they are, against what the kernel counts of the device."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import Between, Iostrata, Verifies
from tests.e2e.serving import Node, wait_until
from tests.e2e.truth import Run

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root to read the kernel's events")
BLOCK = 4096
SECTOR = 512
# Reads and writes past the page cache by several threads at once; one write through it, which fsync
# sends to the device, and a flush; a MiB of the device that is no longer needed (BLKDISCARD).
PROGRAM = """
import fcntl, mmap, os, struct, sys, threading
device, threads, each = sys.argv[1], 4, 50
page = mmap.mmap(-1, 4096)
page.write(b"x" * 4096)
def work(number):
    file = os.open(device, os.O_RDWR | os.O_DIRECT)
    for at in range(each):
        place = (number * each + at) * 4096
        os.pwrite(file, page, place)
        os.preadv(file, [mmap.mmap(-1, 4096)], place)
    os.close(file)
all_of_them = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
for one in all_of_them: one.start()
for one in all_of_them: one.join()
file = os.open(device, os.O_RDWR)
os.pwrite(file, b"y" * 8192, 4096 * 1000)
os.fsync(file)
fcntl.ioctl(file, 0x1277, struct.pack("QQ", 8 << 20, 1 << 20))
os.close(file)
"""
DIRECT, THROUGH = 200, 8192


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """A block device of the test's own, 16 MiB of a file."""
    backing = tmp_path / "disk"
    backing.write_bytes(bytes(16 << 20))
    command = ["losetup", "--find", "--show", str(backing)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield name
    subprocess.run(["losetup", "--detach", name], check=True)


def counted(device: str) -> dict[str, int]:
    """By the kernel: requests that ended and their bytes."""
    fields = Path(f"/sys/class/block/{Path(device).name}/stat").read_text().split()
    read, written = int(fields[2]) * SECTOR, int(fields[6]) * SECTOR
    return {"reads": int(fields[0]), "read": read, "writes": int(fields[4]), "written": written}


def instances() -> set[str]:
    """Of the kernel's tracing, seen from a mount that is gone with the command."""
    script = "mount -t tracefs none /mnt && ls /mnt/instances"
    command = ["unshare", "--mount", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if name.startswith("iostrata-")}


def asked(iostrata: Iostrata, sql: str) -> list[dict[str, Any]]:
    done = iostrata("query", sql, "--run", "r", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_requests_of_a_program_are_those_that_the_device_counts(
    tmp_path: Path, device: str, iostrata: Iostrata, verifies: Verifies
) -> None:
    before = counted(device)
    command = (sys.executable, "-c", PROGRAM, device)
    # WHEN
    done = iostrata("record", "--private", "--native", "--devices", "--run", "r", "--", *command)
    assert done.returncode == 0, done.stderr
    # THEN
    grown = {name: value - before[name] for name, value in counted(device).items()}
    rows = asked(
        iostrata,
        "SELECT op, sum(count)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes, "
        "sum(timed_dur)::BIGINT AS time FROM sums WHERE layer = 'device' GROUP BY op",
    )
    found = {row["op"]: row for row in rows}
    # the machine's own disk is beside it, where Python's files are
    assert found["write"]["bytes"] >= DIRECT * BLOCK + THROUGH
    assert found["read"]["bytes"] >= DIRECT * BLOCK
    assert grown["writes"] >= DIRECT + 1
    assert grown["written"] == DIRECT * BLOCK + THROUGH
    by_size = "sum(count) FILTER (size_class = 13)::BIGINT AS pages"  # of 4 KiB
    (exact,) = asked(
        iostrata, f"SELECT {by_size} FROM sums WHERE layer = 'device' AND op = 'write'"
    )
    assert exact["pages"] >= DIRECT
    assert found["discard"]["bytes"] == 1 << 20
    assert all(row["time"] > 0 for row in rows)
    counts = {860: Between(DIRECT), 861: Between(DIRECT + 1), 862: Between(1), 863: Between(1)}
    verifies(Run(tmp_path / "store", "r"), counts)
    # AND what the program knows is that of its own process
    (who,) = asked(iostrata, "SELECT count(DISTINCT proc)::BIGINT AS n FROM sums "
                   "WHERE layer = 'device' AND op = 'write'")  # fmt: skip
    assert who["n"] == 1
    # AND nothing of it is left
    assert instances() == set()


def test_who_is_not_root_is_told_why_there_are_none() -> None:
    """GIVEN a collector of a user THEN the command runs as ever, and the run says why."""
    with tempfile.TemporaryDirectory(prefix="iostrata-devices-") as name:
        os.chown(name, 65534, 65534)
        own = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        options = ["--private", "--devices", "--store", f"{name}/store", "--run", "r"]
        done = subprocess.run(
            [*become, sys.executable, "-m", "iostrata", "record", *options, "--", "echo", "out"],
            env={**own, "HOME": name},
            cwd=name,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    print(done.stderr)
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert "requests to devices: only a collector of root may read" in done.stderr


def test_a_collector_that_was_killed_leaves_nothing_for_long(here: Node) -> None:
    with here.recording("one", "--devices"):
        (left,) = instances()
        os.kill(here.collector, signal.SIGKILL)
        here.child.wait()
        assert instances() == {left}
        # WHEN another one goes on with the run
        here.collect()
        wait_until(lambda: instances() != {left})
        assert len(instances()) == 1
    # THEN
    assert instances() == set()
