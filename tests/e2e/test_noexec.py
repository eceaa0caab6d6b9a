"""Folders on a file system that is mounted noexec: traced from another, or one line says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.commands import record
from tests.e2e.jdks import java_home
from tests.e2e.test_java import CALLS, SIZE, java, on_target

from iostrata.artifacts import agent_jar, native_loader

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root for mounts")

EXACT = {"write": (CALLS, CALLS * SIZE), "read": (CALLS + 1, CALLS * SIZE)}
READ = f"read {CALLS * SIZE}\n"
# Words: the folder to mount over itself, then the command.
MOUNT = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -o remount,bind,noexec "$1"
grep -q " $1 .*noexec" /proc/mounts
shift
exec "$@"
"""


def noexec(folder: Path | str) -> list[str]:
    """Words before a command for which the folder is on such a file system."""
    return ["unshare", "--mount", "sh", "-c", MOUNT, "sh", str(folder)]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with jar and library."""
    folder = tmp_path / "installed"
    folder.mkdir()
    for file in (agent_jar(), native_loader()):
        shutil.copyfile(file, folder / file.name)
    return folder


@pytest.mark.parametrize("loader", ["native", "javaagent"])
def test_shared_memory(loader: str, tmp_path: Path, program: Path) -> None:
    """The JVM loads what is installed."""
    words = ["env", f"IOSTRATA_LOADER={loader}", *noexec("/dev/shm")]
    file = tmp_path / "data"
    done = record(tmp_path / "store", "--private", "--", *java(program, file), within=words)
    assert (done.returncode, done.stdout) == (0, READ)
    assert on_target(tmp_path / "store", "r", file) == EXACT


def test_nowhere_to_load_from(tmp_path: Path, program: Path, installed: Path) -> None:
    """The recorder says so before it starts anything."""
    both = [*noexec("/dev/shm"), *noexec(installed)]
    words = ["env", f"IOSTRATA_AGENT={installed / agent_jar().name}", *both]
    file = tmp_path / "data"
    done = record(tmp_path / "store", "--private", "--", *java(program, file), within=words)
    assert (done.returncode, done.stdout, file.exists()) == (125, "", False)
    library = installed / native_loader().name
    (line,) = done.stderr.splitlines()
    assert f"{library} cannot be loaded: its file system is mounted noexec" in line
    assert "set IOSTRATA_AGENT" in line


@pytest.mark.parametrize("version", ["17", "25"])
def test_a_jar_whose_library_does_not_load(
    version: str, tmp_path: Path, program: Path, installed: Path
) -> None:
    """The JVM runs as ever, and says why it is not traced."""
    command = java(program, tmp_path / "data", home=java_home(version))
    traces = tmp_path / "traces"
    traces.mkdir()
    option = f"-javaagent:{installed / agent_jar().name}=dir={traces}"
    words = [*noexec(installed), command[0], option, *command[1:]]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, READ)
    why, absent = done.stderr.splitlines()
    assert absent == "absent"
    assert why == (
        f"iostrata 0.1.0: not tracing: {installed / native_loader().name} does not load here: its "
        "file system is mounted noexec: put it and the jar into a folder that is not"
    )
    assert not list(traces.iterdir())


def test_woven_classes(tmp_path: Path, program: Path, installed: Path) -> None:
    """The cache is data: the second JVM weaves nothing."""
    cache, traces = tmp_path / "cache", tmp_path / "traces"
    for folder in (cache, traces):
        folder.mkdir(mode=0o700)
    agent = f"-agentpath:{installed / native_loader().name}=dir={traces},cache={cache}"
    command = java(program, tmp_path / "data")
    twice = (
        "import subprocess, sys\n"
        "for log in ('first', 'second'):\n"
        "    words = [sys.argv[2], f'-Xlog:class+load:file={sys.argv[1]}/{log}', *sys.argv[3:]]\n"
        "    subprocess.run(words, check=True)\n"
    )
    words = [*noexec(cache), sys.executable, "-c", twice, str(tmp_path)]
    subprocess.run([*words, command[0], agent, *command[1:]], check=True, timeout=120)
    weaver = ".agent.asm."
    logs = [(tmp_path / log).read_text() for log in ("first", "second")]
    assert [weaver in log for log in logs] == [True, False]
