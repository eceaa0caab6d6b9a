"""JVMs and collectors at the limits of a system: exact, or what is missing is counted, with why."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Iostrata
from tests.e2e.jdks import java_home
from tests.e2e.serving import Node, node
from tests.e2e.test_containers import EXACT, LONG_ENOUGH, installed, option, recorded, summary
from tests.e2e.test_java import CALLS, SIZE, java, on_target
from tests.e2e.test_shared_node import Order, run_as
from tests.e2e.truth import Run

__all__ = ["installed"]  # a fixture

THREADS = 3_000
WRITTEN = "kind = 'sum' AND op = 'write' AND category = 'file'"
root = pytest.mark.skipif(os.getuid() != 0, reason="needs root for limits or mounts")


def test_thousands_of_threads_at_once(tmp_path: Path, program: Path, iostrata: Iostrata) -> None:
    """All calls are in the sums; what is not recorded individually is in the first line.

    Whether rows collapse is a race: the collector may read the shared ones before they are full.
    """
    calls = 10
    crowd = ["java", "-cp", str(program), "Crowd", str(tmp_path / "data"), str(THREADS), str(calls)]
    done = iostrata("record", "--run", "r", "--", *crowd)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert (tmp_path / "data").stat().st_size == THREADS * calls * 16
    run = Run(tmp_path / "store", "r")
    losses = run.losses()
    written = "SELECT sum(count)::BIGINT, sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND "
    counted = run.rows(f"{written} layer = 'java' AND op = 'write'")
    assert losses["lost"] == 0
    assert counted == [(THREADS * calls + 1, THREADS * calls * 16 + len("done\n"))]
    (first, *_) = summary(tmp_path / "store", "r")
    assert losses["dropped"] > 0
    assert f"{losses['dropped']:,} dropped".replace(",", " ") in first
    collapsed = f"{losses['folded']:,} without task and category".replace(",", " ")
    assert (collapsed in first) == ("without task and category" in first) == (losses["folded"] > 0)


JVMS = 24
SMALL = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m")


def test_a_collector_with_few_descriptors(tmp_path: Path, program: Path) -> None:
    """It has some for a dozen JVMs: the others are read when these have ended."""
    jvms = [
        " ".join([*java(program, tmp_path / f"data-{i}"), "300"]).replace(
            "java ", f"java {' '.join(SMALL)} ", 1
        )
        for i in range(JVMS)
    ]
    script = " & ".join(jvms) + " & wait"
    with node(tmp_path / "node", within=["prlimit", "--nofile=40:40"]) as few:
        done = few.iostrata("record", "--dir", str(few.dir), "--run", "r", "--", "sh", "-c", script)
        assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n" * JVMS)
        (first, *_) = summary(few.store, "r")
        assert first == f"traced {JVMS}/{JVMS} processes, 0 dropped"
        run = Run(few.store, "r")
        per_file = "SELECT target, count(*) FROM events WHERE kind = 'call' AND op = 'write'"
        found = run.rows(f"{per_file} AND target LIKE '%/data-%' GROUP BY target ORDER BY target")
        wanted = sorted((str(tmp_path / f"data-{i}"), CALLS) for i in range(JVMS))
        assert found == wanted
        log = (few.folder / "collector.log").read_text()
        assert "the collector has no descriptors left, raise its ulimit -n" in log
        ticks = Path(f"/proc/{few.collector}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        assert sum(map(int, ticks)) < 5 * os.sysconf("SC_CLK_TCK")  # it does not spin


def test_a_collector_without_descriptors_says_so(tmp_path: Path, program: Path) -> None:
    """It starts with so few, and can read no process."""
    with node(tmp_path / "node", within=["prlimit", "--nofile=22:22"]) as few:
        words = [*java(program, tmp_path / "data"), LONG_ENOUGH]
        _, lines = recorded(few, "r", *words)
        assert lines[0] == "traced 0/1 processes, 0 dropped"
        why = "not read: the collector has no descriptors left, raise its ulimit -n (LimitNOFILE)"
        assert lines[1].endswith(f" ({why})")


MORE_FILES = "the JVM has reached its limit of open files: raise ulimit -n"
LARGER = "the JVM may write no file of that size: raise ulimit -f"
# Each limit, and what is said then: by the JVM, which is not traced, and by the run of one that is.
LIMITS = {
    "ulimit -n 12": ("", ""),
    "ulimit -n 5": (MORE_FILES, ""),
    "ulimit -l 0": ("", ""),
    "ulimit -v 4000000": ("", ""),
    "ulimit -f 0": (LARGER, ""),
    "ulimit -f 100": ("", LARGER),
}
LITTLE = (*SMALL, "-XX:CompressedClassSpaceSize=16m", "-XX:ReservedCodeCacheSize=8m")


def limited(program: Path, i: int, limit: str) -> str:
    """A JVM at that limit, of which the job must be able to write its files."""
    file = Path("/dev/null") if "-f" in limit else Path.cwd() / f"data-{i}"
    jvm = ["java", *LITTLE, *java(program, file)[1:], LONG_ENOUGH]
    return f"( ({limit}; {' '.join(jvm)}); echo exit $?) 2>&1 | cat >out-{i} &"


def test_a_run_that_the_collector_cannot_take_ends_with_its_reason(
    tmp_path: Path, iostrata: Iostrata
) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "r").symlink_to("nowhere")
    done = iostrata("record", "--run", "r", "--", "true")
    assert done.returncode == 125
    assert re.search(r"did not take the run: .*rejected runs/r\.run: ", done.stderr)


def test_limits_of_a_jvm(
    here: Node, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each prints and its exit code are as without us; it is exact, or why not is said."""
    monkeypatch.chdir(tmp_path)
    here.folder = tmp_path
    script = "\n".join(limited(program, i, limit) for i, limit in enumerate(LIMITS)) + "\nwait"

    def own() -> list[list[str]]:
        """What each printed but for what is said of us, and what the JVM says of our option."""
        ours = ("iostrata 0.1.0: ", "Picked up ")
        texts = [Path(f"out-{i}").read_text().splitlines() for i in range(len(LIMITS))]
        return [[line for line in lines if not line.startswith(ours)] for lines in texts]

    subprocess.run(["sh", "-c", script], check=True, timeout=120)
    plain = own()
    assert plain[0] == ["absent", f"read {CALLS * SIZE}", "exit 0"]
    words = ["record", "--dir", str(here.dir), "--run", "r", "--", "sh", "-c", script]
    assert here.iostrata(*words).returncode == 0
    assert own() == plain
    for i, (limit, (says, _)) in enumerate(LIMITS.items()):
        said = [line for line in Path(f"out-{i}").read_text().splitlines() if "iostrata 0" in line]
        assert (len(said), said[0].endswith(f"; {says}") if said else "") == (
            (1, True) if says else (0, "")
        ), limit
        if not any(LIMITS[limit]):
            assert on_target(here.store, "r", tmp_path / f"data-{i}") == EXACT, limit
    untraced = sum(bool(says) for says, _ in LIMITS.values())
    lines = summary(here.store, "r")
    assert lines[0].startswith(f"traced {len(LIMITS) - untraced}/{len(LIMITS)} processes, ")
    assert " lost (in no total)" in lines[0]
    assert lines[1] == f"rejected in 1 process: {LARGER}"
    why = "(the agent did not start: the JVM says why in a line on standard error)"
    assert [line.endswith(why) for line in lines[2 : 2 + untraced]] == [True] * untraced


# The limit counts all threads of a user on the machine: those of other tests are not ours.
ALONE = 60_141


@root
def test_a_limit_of_threads(here: Node, reachable: Path) -> None:
    """With as many threads as a JVM needs, ours is one that it does not start, or that it has."""
    order = Order(here, ALONE, "threads")
    order.begin()
    words = ["prlimit", "--nproc=20:20", *java(reachable, reachable / "data/threads")]
    words[2:3] = ["java", *SMALL]
    options = option(here.dir, here.dir, order.name)
    done = run_as(ALONE, *words, JAVA_TOOL_OPTIONS=options)
    order.end()
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    assert on_target(here.store, order.name, reachable / "data/threads") == EXACT


POLICY = """grant {{
  permission java.io.FilePermission "data", "read,write";
  permission java.io.FilePermission "data.absent", "read";
  permission java.lang.RuntimePermission "exitVM.0";
}};
"""


def test_a_security_manager(
    tmp_path: Path, program: Path, iostrata: Iostrata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that forbids the program all but its files: what we do in its calls asks it nothing."""
    (tmp_path / "job.policy").write_text(POLICY.format())
    home = java_home("17")
    words = java(program, Path("data"), home=home)
    words[1:1] = ["-Djava.security.manager", "-Djava.security.policy==job.policy"]
    done = iostrata("record", "--run", "r", "--", *words)
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    assert summary(tmp_path / "store", "r")[0] == "traced 1/1 processes, 0 dropped"
    assert "switched off" not in done.stderr
    assert on_target(tmp_path / "store", "r", tmp_path / "data") == EXACT


# A root of its own for a command, with what a JVM needs of the host's and, after it, `MORE`.
CHROOT = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$ROOT"
for folder in usr lib lib64 bin etc proc tmp var root/.cache dev/null dev/urandom $MORE; do
  [ -e "/$folder" ] || continue
  mkdir -p "$(dirname "$ROOT/$folder")"
  if [ -d "/$folder" ]; then mkdir -p "$ROOT/$folder"; else touch "$ROOT/$folder"; fi
  mount --rbind "/$folder" "$ROOT/$folder"
done
exec chroot "$ROOT" "$@"
"""


@root
@pytest.mark.parametrize("more", ["dev/shm", ""])
def test_a_jvm_in_a_chroot(
    more: str, here: Node, program: Path, installed: Path, tmp_path: Path
) -> None:
    """With the directory in it it is exact, and without it it says so, and so does the run."""
    (tmp_path / "root").mkdir()
    inside = ["env", f"MORE={more}", f"ROOT={tmp_path / 'root'}"]
    inside += [f"JAVA_TOOL_OPTIONS={option(installed, here.dir, 'r')}"]
    inside += ["unshare", "--mount", "sh", "-c", CHROOT, "sh"]
    file = tmp_path / "data"
    said, lines = recorded(here, "r", *inside, *java(program, file), LONG_ENOUGH)
    if more:
        assert lines[0] == "traced 1/1 processes, 0 dropped"
        assert on_target(here.store, "r", file) == EXACT
    else:
        assert f"not tracing: {here.dir} does not exist; " in said
        assert lines[0] == "traced 0/1 processes, 0 dropped"
        assert f"another {here.dir} or none: " in lines[1]


OPEN = "--add-opens=java.base/java.io=ALL-UNNAMED"


def test_a_program_that_closes_descriptors_of_others(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    """Its own files get their numbers: nothing of ours is written there, and all calls count."""
    folder = tmp_path / "own"
    folder.mkdir()
    home = java_home("17")
    words = [str(home / "bin/java"), OPEN, "-cp", str(program), "Closes", str(folder), "iostrata"]
    done = iostrata("record", "--run", "r", "--", *words)
    # THEN nothing is open that it could have closed
    assert (done.returncode, done.stdout) == (0, "closed 0\n")
    # AND there are its own files only, with what it wrote
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    mine = {f"own-{i}": 20 for i in range(12)}
    theirs = {f"after-{i}": 160 for i in range(40)}
    assert sizes == {**mine, **theirs, "after": 16}
    # AND each of its calls is in the sums: threads, names and numbers that it used
    run = Run(tmp_path / "store", "r")
    assert not any(run.losses().values())
    assert run.one(f"SELECT sum(count)::BIGINT FROM events WHERE {WRITTEN}") == 1 + 24 + 400 + 1500


def test_a_jvm_without_standard_descriptors(
    tmp_path: Path, program: Path, iostrata: Iostrata
) -> None:
    """0, 1 and 2 are closed, as daemons do: its files, which may get these, hold its bytes only."""
    prefix = tmp_path / "append-"
    script = f"exec java -cp {program} Appends {prefix} 4 100 <&- >&- 2>&-"
    done = iostrata("record", "--run", "r", "--", "sh", "-c", script)
    assert done.returncode == 0
    sizes = [Path(f"{prefix}{i}").stat().st_size for i in range(4)]
    zeros = [set(Path(f"{prefix}{i}").read_bytes()) for i in range(4)]
    assert (sizes, zeros) == ([1600] * 4, [{0}] * 4)
    assert summary(tmp_path / "store", "r")[0] == "traced 1/1 processes, 0 dropped"
