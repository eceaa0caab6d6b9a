"""Native programs, as they are: what they call of the C library, against what the kernel saw."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.conftest import Between, Iostrata, Verifies
from tests.e2e.truth import Run

HERE = Path(__file__).parent
# The operation of each system call that a call of the C library makes.
OPERATIONS = {
    **dict.fromkeys(("open", "openat", "creat"), "open"),
    **dict.fromkeys(("read", "pread64", "readv", "preadv", "preadv2"), "read"),
    **dict.fromkeys(("write", "pwrite64", "writev", "pwritev", "pwritev2"), "write"),
    **dict.fromkeys(("fsync", "fdatasync", "sync_file_range"), "sync"),
    **dict.fromkeys(("ftruncate", "truncate"), "truncate"),
    **dict.fromkeys(("newfstatat", "statx", "access", "faccessat"), "stat"),
    **dict.fromkeys(("fstat", "stat", "lstat"), "stat"),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), "delete"),
    **dict.fromkeys(("mkdir", "mkdirat"), "mkdir"),
    **dict.fromkeys(("rename", "renameat", "renameat2"), "rename"),
    **dict.fromkeys(("sendfile", "copy_file_range", "splice"), "transfer"),
    "lseek": "seek",
    "fallocate": "allocate",
    "close": "close",
    "mmap": "map",
}
RECORD = ("record", "--native", "--budget", "off", "--run", "r", "--")
MOVES = ("read", "write", "transfer")
# Calls of every_call.c by point: one read() of a pipe, and one read() and one close() of nothing
# among them.
CALLS = {
    710: 7,
    711: 5,
    712: 31,
    713: 1,
    714: 1,
    715: 1,
    716: 32,
    717: 1,
    718: 1,
    719: 1,
    720: 1,
    721: 7,
    722: 2,
    723: 1,
    724: 1,
    726: 1,
    728: 1,
    729: 1,
    730: 1,
    731: 1,
    732: 1,
    733: 1,
    734: 1,
    735: 1,
    736: 1,
    737: 1,
    738: 2,
    739: 1,
    740: 2,
    741: 2,
    742: 1,
    743: 1,
    744: 1,
    727: 1,
    745: 1,
    746: 1,
    747: 1,
    748: 1,
    753: 2,
    754: 3,
    755: 3,  # standard output is a stream, too
}
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+)")


@pytest.fixture(scope="session")
def every_call(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled as distributions compile theirs."""
    program = tmp_path_factory.mktemp("native") / "every_call"
    source = str(HERE / "every_call.c")
    compiler = ["gcc", "-O2", "-D_FORTIFY_SOURCE=2", "-pthread"]
    subprocess.run([*compiler, "-o", str(program), source], check=True)
    return program


def by_strace(command: list[str], folder: Path, log: Path) -> tuple[Counter[str], Counter[str]]:
    """Calls and bytes by operation, on files of a folder."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    # a file for each process: in one, a call is cut in two where another process comes between
    subprocess.run(["strace", "-ff", "-y", "-o", str(log), *command], capture_output=True)
    lines = [
        line
        for each in log.parent.glob(f"{log.name}.*")
        for line in each.read_text("utf-8", "replace").splitlines()
    ]
    calls: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for line in lines:
        found = CALL.match(line)
        if found is None or str(folder) not in found[2]:
            continue
        op = OPERATIONS.get(found[1])
        if op is not None:
            calls[op] += 1
            moved[op] += max(0, int(found[3])) if op in MOVES else 0
    return calls, +moved


def by_iostrata(iostrata: Iostrata, folder: Path) -> tuple[Counter[str], Counter[str]]:
    """The same of the last run."""
    sql = (
        "SELECT op, count(*)::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM calls "
        f"WHERE layer = 'posix' AND starts_with(target, '{folder}') GROUP BY op"
    )
    done = iostrata("query", sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    moved = {row["op"]: row["bytes"] for row in rows if row["op"] in MOVES}
    return Counter({row["op"]: row["calls"] for row in rows}), +Counter(moved)


def test_each_call_is_what_the_kernel_saw(
    tmp_path: Path, every_call: Path, iostrata: Iostrata, verifies: Verifies
) -> None:
    alone, seen, traced = (tmp_path / name for name in ("alone", "seen", "traced"))
    for folder in (alone, seen, traced):
        folder.mkdir()
    bare = subprocess.run([every_call, alone], capture_output=True, text=True)
    # WHEN
    done = iostrata(*RECORD, str(every_call), str(traced))
    # THEN the program's output and exit code are its own, and so are its files
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout) == (5, done.stdout)
    contents = [
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (alone, traced)
    ]
    assert contents[0] == contents[1]
    # AND every process is there, that of the child of the same program and that of another, too
    summary = json.loads(iostrata("summary", "r", "--json").stdout)
    assert summary["processes"]["traced"] == summary["processes"]["total"] == 3
    lost = ("dropped", "collapsed", "lost", "rejected")
    assert {name: summary[name] for name in lost} == dict.fromkeys(lost, 0)
    run = Run(tmp_path / "store", "r")
    buffers = Between(2, 20)  # a stream has a buffer of 4 KiB, the file 31 KB
    verifies(run, {**CALLS, 750: buffers, 751: buffers, 752: Between(1, 3)})
    # AND every call is one that the kernel saw, where there is an strace to say so
    calls, moved = by_strace([str(every_call), str(seen)], seen, tmp_path / "strace")
    assert by_iostrata(iostrata, traced) == (calls, moved)


def test_places_of_calls_that_say_none(tmp_path: Path, iostrata: Iostrata) -> None:
    """They begin where the one before has ended, as far as nobody else may move a descriptor."""
    program = (sys.executable, str(HERE / "places.py"), str(tmp_path))
    done = iostrata(*RECORD, *program)
    assert done.returncode == 0, done.stderr
    names = "'plain', 'again', 'end', 'mine', 'later', 'to'"
    sql = (
        'SELECT op, parse_filename(target) AS name, "offset" AS at FROM calls WHERE '
        f"layer = 'posix' AND op IN ('read', 'write') AND bytes > 0 AND starts_with(target, "
        f"'{tmp_path}') AND parse_filename(target) IN ({names}) AND proc IN (SELECT proc FROM "
        "calls WHERE target LIKE '%/places.py') ORDER BY start"
    )
    rows = json.loads(iostrata("query", sql, "--format", "json").stdout)
    assert [[row["op"], row["name"], row["at"]] for row in rows] == json.loads(done.stdout)


def test_each_asynchronous_call(tmp_path: Path, iostrata: Iostrata, verifies: Verifies) -> None:
    """One that has ended counts when its result is asked for, with what it has moved."""
    program, data = str(tmp_path / "asynchronous"), tmp_path / "data"
    libaio = next(Path("/usr/lib").rglob("libaio.so.1*"), None)
    if libaio is None:
        pytest.skip("libaio is not installed: apt-get install fio")
    source = str(HERE / "asynchronous.c")
    subprocess.run(["gcc", "-O2", "-o", program, source, str(libaio)], check=True)
    done = iostrata(*RECORD, program, str(data))
    assert done.returncode == 0
    many, size = 8, 4096
    waits = Between(many + 3, 1000)  # once at least for each that is not part of a list
    reads = {756: many + 2, 801: many}
    writes = {757: many, 802: many}
    verifies(Run(tmp_path / "store", "r"), {**reads, **writes, 758: 1, 759: waits, 803: 1, 804: 3})
    moved = (
        f"SELECT point, op, sum(bytes)::BIGINT AS bytes, count(error)::BIGINT AS errors, "
        f"max(\"offset\") AS last FROM calls WHERE target = '{data}' AND op IN ('read', 'write') "
        "GROUP BY ALL ORDER BY point"
    )
    rows = json.loads(iostrata("query", moved, "--format", "json").stdout)
    end = (many - 1) * size
    assert [[*row.values()] for row in rows] == [
        [756, "read", many * size + 96, 0, many * size - 96],
        [757, "write", many * size, 0, end],
        [801, "read", many * size, 0, end],
        [802, "write", many * size, 0, end],
    ]
    # A descriptor that is closed has no file, but its call and its error are there.
    failed = "SELECT error FROM calls WHERE point = 756 AND error IS NOT NULL"
    (row,) = json.loads(iostrata("query", failed, "--format", "json").stdout)
    assert "EBADF" in row["error"] or "9" in row["error"]


def test_each_request_of_io_uring(tmp_path: Path, iostrata: Iostrata, verifies: Verifies) -> None:
    """It counts when its result has come, also where the program takes that without a call."""
    program, data = str(tmp_path / "uring"), tmp_path / "data"
    if not Path("/usr/include/liburing.h").exists():
        pytest.skip("liburing is not installed: apt-get install liburing-dev")
    subprocess.run(["gcc", "-O2", "-o", program, str(HERE / "uring.c"), "-luring"], check=True)
    bare = subprocess.run([program, str(data)], check=False).returncode
    if bare == 200:
        pytest.skip("this kernel has no io_uring: see kernel.io_uring_disabled")
    assert bare == 0
    data.unlink()
    done = iostrata(*RECORD, program, str(data))
    assert done.returncode == 0, done.stderr
    many, size = 8, 4096
    # at once, without waiting; a vector, a registered buffer, a closed file, one opened there
    reads, writes = many + 10 * many + 4, many + 2
    calls = {864: reads, 865: writes, 866: 1, 867: 1, 868: 1, 869: 2, 870: 1}
    verifies(Run(tmp_path / "store", "r"), {**calls, 871: Between(2 + 10 * many + 13, 1000)})
    moved = (
        "SELECT point, sum(bytes)::BIGINT AS bytes, count(error)::BIGINT AS errors, "
        f"max(\"offset\") AS last FROM calls WHERE target = '{data}' AND point IN (864, 865) "
        "GROUP BY ALL ORDER BY point"
    )
    rows = json.loads(iostrata("query", moved, "--format", "json").stdout)
    assert [[*row.values()] for row in rows] == [
        [864, (many + 10 * many + 4) * size - 96, 0, many * size + 96],
        [865, (many + 3) * size, 0, many * size],
    ]
    # AND the calls that failed are there with the reason
    failed = "SELECT point, error FROM calls WHERE point >= 864 AND error IS NOT NULL ORDER BY 1"
    rows = json.loads(iostrata("query", failed, "--format", "json").stdout)
    assert [row["point"] for row in rows] == [864, 869]
    # AND what was opened there has its name, until it is closed
    named = f"SELECT op FROM calls WHERE target = '{data}' AND point IN (869, 870) ORDER BY point"
    rows = json.loads(iostrata("query", named, "--format", "json").stdout)
    assert [row["op"] for row in rows] == ["open", "close"]


def test_programs_of_others_stay_as_they_are(tmp_path: Path, iostrata: Iostrata) -> None:
    """A shell, its children and pipes: what they print and how they end."""
    script = (
        'set -e; cd "$0"; seq 2000 > numbers; sort -rn numbers | head -3; cp numbers copy; '
        "grep -c 7 copy; dd if=copy of=/dev/null bs=512 status=none; "
        "(echo in a subshell); tar cf all.tar numbers copy; rm copy; exit 7"
    )
    outputs = []
    for name, record in (("bare", ()), ("traced", RECORD)):
        folder = tmp_path / name
        folder.mkdir()
        command = ("bash", "-c", script, str(folder))
        run = iostrata(*record, *command) if record else subprocess.run(
            command, capture_output=True, text=True
        )  # fmt: skip
        outputs.append((run.returncode, run.stdout))
        assert (folder / "numbers").stat().st_size == sum(len(str(n)) + 1 for n in range(1, 2001))
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == 7
    # AND what dd read is there: its file, in requests of 512 bytes
    size = (tmp_path / "traced/numbers").stat().st_size
    sql = (
        "SELECT sum(bytes)::BIGINT AS bytes FROM calls WHERE op = 'read' AND "
        f"target = '{tmp_path}/traced/copy' AND proc IN "
        "(SELECT proc FROM processes WHERE main = 'dd')"
    )
    (row,) = json.loads(iostrata("query", sql, "--format", "json").stdout)
    assert row["bytes"] == size


def test_python_with_threads_and_a_pool_of_processes(tmp_path: Path, iostrata: Iostrata) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, pathlib, sys, threading\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "def work(n):\n"
        "    path = folder / str(n)\n"
        "    with open(path, 'wb', buffering=0) as out:\n"
        "        for _ in range(100): out.write(b'x' * 1000)\n"
        "    with open(path, 'rb', buffering=0) as file:\n"
        "        return sum(len(file.read(1000)) for _ in range(100))\n"
        "if __name__ == '__main__':\n"
        "    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "    [t.start() for t in threads]; [t.join() for t in threads]\n"
        "    with multiprocessing.get_context('fork').Pool(3) as pool:\n"
        "        print(sum(pool.map(work, range(8, 16))))\n"
    )
    folder = tmp_path / "files"
    folder.mkdir()
    done = iostrata(*RECORD, sys.executable, str(program), str(folder))
    assert (done.returncode, done.stdout) == (0, "800000\n"), done.stderr
    calls, moved = by_iostrata(iostrata, folder)
    assert (calls["write"], moved["write"]) == (1600, 1_600_000)
    assert (calls["read"], moved["read"]) == (1600, 1_600_000)


STATIC = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int words, char **word) {
    char part[4096];
    int file = open(word[1], O_RDONLY);
    while (read(file, part, sizeof part) > 0) { }
    return 7;
}
"""
# Waits for a child that goes on, until a signal comes; and for one that a signal ends.
INTERRUPTED = """
sleep 60 & child=$!
trap 'kill $child; echo got it; trap - USR1' USR1
(sleep 0.3; kill -USR1 $$) &
wait $child; echo $?
wait $child; echo $?
"""


def test_what_is_linked_statically_is_named_with_what_the_kernel_counted(
    tmp_path: Path, iostrata: Iostrata
) -> None:
    (tmp_path / "static.c").write_text(STATIC)
    program = str(tmp_path / "unseen")
    subprocess.run(["gcc", "-static", "-o", program, str(tmp_path / "static.c")], check=True)
    (tmp_path / "file").write_bytes(bytes(3_000_000))
    shell = f"'{program}' '{tmp_path}/file'; echo $?; cat '{tmp_path}/file' | wc -c"
    done = iostrata(*RECORD, "sh", "-c", shell)
    assert done.stdout.splitlines()[:2] == ["7", "3000000"], done.stderr
    rows = iostrata("query", "SELECT name, exit, io_read FROM children", "--format", "json")
    (child,) = json.loads(rows.stdout)  # THEN what is traced is no such child
    assert (child["name"], child["exit"]) == ("unseen", 7)
    assert 3_000_000 <= child["io_read"] <= 3_100_000
    full = iostrata("summary", "r", "--full").stdout.splitlines()
    assert [line for line in full if line.startswith("unseen")]


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_signal_ends_the_wait_for_a_child(shell: str, iostrata: Iostrata) -> None:
    bare = subprocess.run([shell, "-c", INTERRUPTED], capture_output=True, text=True, timeout=30)
    done = iostrata(*RECORD, shell, "-c", INTERRUPTED)
    assert done.stdout.splitlines()[:3] == bare.stdout.splitlines() == ["got it", "138", "143"]


def test_a_limit_of_the_size_of_files_ends_nobody(iostrata: Iostrata) -> None:
    """Programs for which there is no room for what would be recorded of them run as ever."""
    limited = "ulimit -f 8; head -c 100 /dev/zero | wc -c; exec sh -c 'echo $0' end"
    done = iostrata(*RECORD, "bash", "-c", limited)
    assert (done.stdout.splitlines()[:2], done.returncode) == (["100", "end"], 0), done.stderr


def test_what_programs_rarely_do(tmp_path: Path, iostrata: Iostrata) -> None:
    """Output and exit code are those of the program alone."""
    program = str(tmp_path / "torture")
    subprocess.run(
        ["gcc", "-O1", "-w", "-o", program, f"{HERE}/torture.c", "-lpthread"], check=True
    )
    said = []
    for place in ("bare", "recorded"):
        (tmp_path / place).mkdir()
        words = [program, str(tmp_path / place)]
        if place == "recorded":
            done = iostrata(*RECORD, *words)
        else:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        said.append((done.returncode, done.stdout.splitlines()[:18]))
    assert said[0] == said[1]
    assert len(said[0][1]) == 18


def sums(iostrata: Iostrata, op: str) -> tuple[int, int]:
    """Calls and bytes of an operation, of the last run, recorded individually or not."""
    sql = (
        'SELECT sum("count")::BIGINT AS calls, sum(bytes)::BIGINT AS bytes FROM events '
        f"WHERE kind = 'sum' AND op = '{op}'"
    )
    (row,) = json.loads(iostrata("query", sql, "--format", "json").stdout)
    return row["calls"], row["bytes"]


def test_a_program_that_is_killed_loses_no_count(tmp_path: Path, iostrata: Iostrata) -> None:
    program = (
        "import os, sys\n"
        "file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        "for _ in range(54321): os.write(file, b'x' * 10)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    record = ("record", "--native", "--run", "r", "--")
    done = iostrata(*record, sys.executable, "-c", program, str(tmp_path / "file"))
    assert done.returncode == 137
    assert sums(iostrata, "write") == (54321, 543210)


def test_a_thousand_threads(tmp_path: Path, iostrata: Iostrata) -> None:
    program = (
        "import os, sys, threading\n"
        "def work(n):\n"
        "    file = os.open(f'{sys.argv[1]}/{n % 50}', os.O_CREAT | os.O_WRONLY | os.O_APPEND)\n"
        "    for _ in range(100): os.write(file, b'x' * 7)\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(1000)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
    )
    record = ("record", "--native", "--run", "r", "--")
    done = iostrata(*record, sys.executable, "-c", program, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert sums(iostrata, "write") == (100_000, 700_000)
