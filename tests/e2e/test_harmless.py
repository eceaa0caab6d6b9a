"""A host whose tracing has no room: its output, exit code and files are what they would be."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e import commands
from tests.e2e.limits import MEMORY, cgroup
from tests.e2e.test_kill import collect
from tests.e2e.truth import Run

THREADS, CALLS = 40, 300

root = pytest.mark.skipif(os.getuid() != 0, reason="needs root for a mount or a cgroup")


@contextmanager
def small_memory_disk(folder: Path, size: str) -> Iterator[Path]:
    """A tmpfs of that size: nothing is written before it is known to be one."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        assert os.path.ismount(folder)
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def right_files(prefix: Path) -> bool:
    return all(Path(f"{prefix}{i}").stat().st_size == CALLS * 16 for i in range(THREADS))


@root
def test_full_shared_memory(tmp_path: Path, program: Path) -> None:
    """GIVEN 1.5 MiB for 40 threads THEN the program is whole, and what was refused is counted."""
    prefix = tmp_path / "append-"
    store = tmp_path / "store"
    with small_memory_disk(tmp_path / "shm", "1536k") as directory:
        collector = collect(directory, store)
        try:
            words = ["java", "-cp", str(program), "Appends", prefix, THREADS, CALLS]
            done = commands.record(store, "--dir", str(directory), "--", *map(str, words))
        finally:
            collector.terminate()
            collector.wait(timeout=180)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert right_files(prefix)
    run = Run(store, "r")
    losses = run.losses()
    counted = run.one(
        "SELECT coalesce(sum(count), 0)::BIGINT FROM events WHERE kind = 'sum' AND op = 'write' "
        "AND category = 'file'"
    )
    print(f"{losses}, {counted} of {THREADS * CALLS} calls in sums")
    assert losses["refused"] > 0
    assert counted < THREADS * CALLS
    assert counted + losses["lost"] >= THREADS * CALLS


@contextmanager
def container(megabytes: int) -> Iterator[Path]:
    """A cgroup with a hard memory limit; gone afterwards."""
    with cgroup(MEMORY) as group:
        (group / "memory.limit_in_bytes").write_text(str(megabytes << 20))
        yield group
        assert "oom_kill 0" in (group / "memory.oom_control").read_text()


def record_in(
    group: Path, store: Path, program: Path, *command: str
) -> subprocess.CompletedProcess[str]:
    script = f"echo $$ > {group}/cgroup.procs; exec java -Xmx64m -cp {program} {' '.join(command)}"
    return commands.record(store, "--", "sh", "-c", script)


limited = pytest.mark.skipif(
    not (MEMORY / "memory.limit_in_bytes").exists(), reason="no memory cgroup (v1)"
)


@root
@limited
def test_hard_memory_limit(tmp_path: Path, program: Path) -> None:
    """GIVEN a container of 256 MiB THEN tracing takes at most a hundredth of it."""
    prefix, store = tmp_path / "append-", tmp_path / "store"
    with container(256) as group:
        appends = ("Appends", str(prefix), str(THREADS), str(CALLS))
        done = record_in(group, store, program, *appends)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert right_files(prefix)
    losses = Run(store, "r").losses()
    print(losses)
    # 2.56 MiB hold some 25 segments: without one a call is in the sums, its detail is counted.
    assert losses["dropped"] > 0
    assert losses["lost"] == 0


@root
@limited
def test_names_in_a_small_container(tmp_path: Path, program: Path) -> None:
    """GIVEN room for 2.56 MiB of names WHEN 30,000 files are written, names of 6 MB THEN all have
    their name: the collector frees dictionary files."""
    files = tmp_path / "files"
    files.mkdir()
    store = tmp_path / "store"
    with container(256) as group:
        done = record_in(group, store, program, "ManyFiles", str(files), "30000")
    assert done.returncode == 0
    run = Run(store, "r")
    assert run.losses()["refused"] == 0
    names = run.one(
        "SELECT count(DISTINCT target) FROM events WHERE kind = 'call' AND op = 'write' "
        "AND target LIKE '%a-file-with-a-name%'"
    )
    assert names == 30_000


@pytest.mark.parametrize("what", ["missing", "read-only"])
def test_no_directory_to_write_to(what: str, tmp_path: Path, program: Path) -> None:
    """GIVEN an agent whose directory is missing or not its own THEN one line says so."""
    from iostrata.artifacts import agent_jar

    directory = tmp_path / "shm"
    if what == "read-only":
        directory = Path("/proc/sys")  # nobody can make a folder there, not even root
    prefix = tmp_path / "append-"
    done = subprocess.run(
        ["java", f"-javaagent:{agent_jar()}=dir={directory}", "-cp", str(program), "Appends"]
        + [str(prefix), str(THREADS), str(CALLS)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert right_files(prefix)
    (line,) = done.stderr.splitlines()
    assert line.startswith("iostrata 0.1.0: not tracing: ")
    assert str(directory) in line
