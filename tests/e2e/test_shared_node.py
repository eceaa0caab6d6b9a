"""A node that a hostile user shares: what they try, with real uids, against a root collector."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e import commands
from tests.e2e.serving import Node, node, wait_until
from tests.e2e.test_harmless import small_memory_disk
from tests.e2e.test_java import CALLS, SIZE, java, on_target
from tests.e2e.test_kill import collect
from tests.e2e.truth import Run

from iostrata.processes import start_ticks
from iostrata.record.collector import collector_of

PYTHON = Path("/usr/bin/python3.11")  # one that other users can run

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="needs root to become other users"),
    pytest.mark.skipif(not PYTHON.exists(), reason=f"no {PYTHON} for other users to run"),
]

ALICE, MALLORY = pwd.getpwnam("games").pw_uid, pwd.getpwnam("news").pw_uid

# Sends one packet to the door of a directory, and prints the answer.
KNOCK = """
import os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
    door.connect(sys.argv[1] + "/door")  # where others wait, too: one with a timeout does not
    door.settimeout(20)
    door.send(sys.argv[2].encode())
    print(door.recv(1024).decode())
"""
# Comes 500 times, says nothing and stays.
HOLD = """
import socket, sys, time
held = []
for _ in range(500):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.connect(sys.argv[1] + "/door")
    held.append(door)
print("held", flush=True)
time.sleep(60)
"""
# What the attacker's processes try in the directory; what came of each is printed.
TRIES = """
import fcntl, os, sys
directory, other, run = sys.argv[1:]
library = directory + "/libiostrata_loader.so"
def attempt(name, act):
    try:
        act()
        print(name, "done")
    except OSError as error:
        print(name, error.strerror)
attempt("agent", lambda: os.symlink("/etc/hosts", library + ".new"))
attempt("agent in place", lambda: os.unlink(library))
attempt("agent's text", lambda: open(library, "r+b"))
attempt("folder", lambda: os.mkdir(directory + "/" + other))
attempt("order", lambda: open(directory + "/runs/baseline.run", "w"))
attempt("stop", lambda: open(f"{directory}/runs/{run}.stop", "w"))
attempt("words", lambda: open(f"{directory}/runs/{run}.run"))
attempt("holder", lambda: fcntl.lockf(open(directory + "/collector", "r+"), fcntl.LOCK_EX))
attempt("control", lambda: open(directory + "/control", "r+b"))
attempt("door", lambda: os.unlink(directory + "/door"))
"""


@dataclass(frozen=True)
class Order:
    """A run that a user asks for at the door, recorded by this process."""

    shared: Node
    uid: int
    called: str

    @property
    def name(self) -> str:
        """What the collector calls it: each user but its own has names of their own."""
        return f"{self.called}.{self.uid}" if self.uid else self.called

    def ask(self, verb: str, body: str = "") -> str:
        return knock(self.shared.dir, self.uid, f"{verb} {self.name}\n{body}")

    def begin(self) -> None:
        me = os.getpid()
        lines = f"recorder_pid={me}\nrecorder_start={start_ticks(me)}\nlevel=thread\n"
        assert self.ask("record", lines) == "ok"
        self.wait_for("recording")

    def end(self) -> None:
        assert self.ask("stop", "exit=0\n") == "ok"
        self.wait_for("done")

    def wait_for(self, state: str) -> None:
        wait_until(lambda: self.progress().get("state") == state, 30)

    def progress(self) -> dict[str, object]:
        try:
            answer: dict[str, object] = json.loads(
                (self.shared.store / self.name / "progress.json").read_text()
            )
        except OSError:
            return {}
        return answer


def run_as(uid: int, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command as that user."""
    done = subprocess.run(
        words,
        user=uid,
        group=uid,
        extra_groups=[],
        env={"PATH": os.environ["PATH"], **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    print(done.stdout + done.stderr)
    return done


def record(
    store: Path, *command: str, within: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Records the run `r` with a collector of its own; `within` are words before all others."""
    return commands.record(store, "--private", "--", *command, within=within)


def knock(directory: Path, uid: int, request: str) -> str:
    """What the door of a directory answers that user."""
    return run_as(uid, str(PYTHON), "-c", KNOCK, str(directory), request).stdout.strip()


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Node]:
    with node(tmp_path / "node") as one:
        yield one


def test_nobody_else_writes_to_the_directory(shared: Node) -> None:
    """Rows 1 and 9: no agent, folder, order, stop, lock or door of somebody else's making."""
    hers = Order(shared, ALICE, "alice")
    hers.begin()
    words = (str(shared.dir), str(ALICE + 1), hers.name)
    tried = run_as(MALLORY, str(PYTHON), "-c", TRIES, *words)
    assert tried.returncode == 0
    lines = tried.stdout.splitlines()
    assert len(lines) == 10
    assert [line for line in lines if not line.endswith(" Permission denied")] == []
    for verb in ("record", "stop", "withdraw"):
        answer = knock(shared.dir, MALLORY, f"{verb} {hers.name}\nrecorder_pid=0\n")
        assert answer == f"no the name of a run of yours ends in .{MALLORY}"
    hers.end()


def test_a_directory_that_others_may_write_to_is_not_used(shared: Node, program: Path) -> None:
    """Row 1: a privileged command loads nothing from there, nor do JVMs."""
    shared.dir.chmod(0o1777)
    try:
        assert collector_of(shared.dir) is None
        done = shared.iostrata("record", "--dir", str(shared.dir), "--run", "r", "--", "true")
        assert done.returncode == 125
        assert f"others may write to {shared.dir}" in done.stderr
        option = f"-agentpath:{shared.dir}/libiostrata_loader.so=dir={shared.dir}"
        file = str(shared.folder / "data")
        run = subprocess.run(
            ["java", option, "-cp", str(program), "Reads", file, "3", "5", "0"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == "read 15\n"
        (said, absent) = run.stderr.splitlines()
        assert "others may write to" in said
        assert absent == "absent"
    finally:
        shared.dir.chmod(0o755)


def test_what_another_user_made_before_is_put_aside(tmp_path: Path) -> None:
    """Row 9: root's collector starts, whoever made its directory before it."""
    place = Path(f"/dev/shm/iostrata-planted-{os.getpid()}")
    run_as(MALLORY, "mkdir", str(place))
    child = collect(place, tmp_path / "store")
    try:
        (aside,) = place.parent.glob(f"{place.name}.of-uid-{MALLORY}-*")
        assert aside.stat().st_uid == MALLORY
        assert (place.stat().st_uid, place.stat().st_mode & 0o777) == (0, 0o755)
        assert collector_of(place) is not None
    finally:
        child.terminate()
        child.wait(timeout=60)
    aside.rmdir()
    shutil.rmtree(place)


def test_a_finished_run_belongs_to_its_user_for_ever(shared: Node) -> None:
    """Row 2: nobody records under its name, and nothing of it changes."""
    with shared.recording("baseline"):
        pass
    run = shared.store / "baseline"
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    answer = knock(shared.dir, MALLORY, "record baseline\nrecorder_pid=0\n")
    assert answer == f"no the name of a run of yours ends in .{MALLORY}"
    # AND one who calls a run of theirs the same has another one
    theirs = Order(shared, MALLORY, "baseline")
    theirs.begin()
    theirs.end()
    again = theirs.ask("record", "recorder_pid=0\n")
    assert again == "no the store has a run of that name"
    time.sleep(1)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert {path.stat().st_uid for path in (run, *run.rglob("*"))} == {0}
    # AND its own user gets a reason, too
    done = shared.iostrata("record", "--dir", str(shared.dir), "--run", "baseline", "--", "true")
    assert (done.returncode, "exists already" in done.stderr) == (125, True)


def test_a_spoilt_run_ends_alone(shared: Node, reachable: Path) -> None:
    """Row 3: a run whose owner spoils its folder ends, and all others are published."""
    mine, hers = Order(shared, MALLORY, "spoilt"), Order(shared, ALICE, "hers")
    mine.begin()
    hers.begin()
    link = shared.store / mine.name / "processes"
    link.symlink_to("/etc")
    os.lchown(link, MALLORY, MALLORY)
    there = set(Path("/etc").iterdir())
    trace(shared, ALICE, hers.name, reachable)
    hers.end()
    mine.wait_for("done")
    assert "its folder cannot be written" in str(mine.progress()["message"])
    assert set(Path("/etc").iterdir()) == there
    assert on_target(shared.store, hers.name, reachable / "data" / hers.name)["write"] == (
        CALLS,
        CALLS * SIZE,
    )


def trace(shared: Node, uid: int, run: str, reachable: Path, *before: str) -> str:
    """A JVM of that user in that run; what it said on standard error."""
    file = reachable / "data" / run
    option = f"-agentpath:{shared.dir}/libiostrata_loader.so=dir={shared.dir},run={run}"
    done = run_as(uid, *before, *java(reachable, file), JAVA_TOOL_OPTIONS=option)
    assert done.returncode == 0
    assert done.stdout == f"read {CALLS * SIZE}\n"
    return done.stderr


def test_a_run_begins_while_another_is_on(shared: Node, reachable: Path) -> None:
    """What a process did before its run began, while it was traced for that of somebody else, is
    neither in the calls of its run nor in the sums.
    """
    his, hers = Order(shared, MALLORY, "his"), Order(shared, ALICE, "hers")
    data, pipe = reachable / "data/paced", reachable / "data/pipe"
    his.begin()
    subprocess.run(["mkfifo", "-m", "666", pipe], check=True)
    option = f"-agentpath:{shared.dir}/libiostrata_loader.so=dir={shared.dir},run={hers.name}"
    java_words = ["java", "-cp", str(reachable), "Paced", str(data), str(pipe), str(SIZE)]
    with subprocess.Popen(
        java_words, user=ALICE, group=ALICE, extra_groups=[], stdout=subprocess.DEVNULL,
        env=os.environ | {"JAVA_TOOL_OPTIONS": option},
    ):  # fmt: skip
        try:
            wait_until(lambda: data.exists() and data.stat().st_size > 200 * SIZE)
            hers.begin()
            begun = data.stat().st_size // SIZE
            wait_until(lambda: data.stat().st_size // SIZE > begun + 200)
            hers.end()
        finally:
            pipe.write_text("over\n")
    run = Run(shared.store, hers.name)
    ((kept, summed),) = run.rows(
        "SELECT count(*) FILTER (kind = 'call'), sum(count) FILTER (kind = 'sum')::BIGINT "
        "FROM events WHERE op = 'write' AND category = 'file'"
    )
    assert kept > 400  # two writes each
    # between the last look before the run and its begin
    assert kept <= summed <= kept + 20


def test_a_recording_in_a_user_namespace(tmp_path: Path, program: Path) -> None:
    """There the folders above belong to nobody that is known; all else is one's own."""
    store, file = tmp_path / "store", tmp_path / "data"
    inside = ("unshare", "--user", "--map-root-user")
    done = record(store, *java(program, file), within=inside)
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    assert on_target(store, "r", file)["write"] == (CALLS, CALLS * SIZE)


def test_a_jvm_of_another_user_starts(tmp_path: Path, reachable: Path) -> None:
    """Row 7: what a recorded command starts as somebody else is traced by root's collector."""
    store, file = tmp_path / "store", reachable / "data/other"
    become = ["setpriv", f"--reuid={ALICE}", f"--regid={ALICE}", "--clear-groups"]
    done = record(store, *become, *java(reachable, file))
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    assert "traced 1/1 processes, 0 dropped\n" in done.stderr
    assert on_target(store, "r", file)["write"] == (CALLS, CALLS * SIZE)
    assert Run(store, "r").rows("SELECT DISTINCT uid FROM processes") == [(ALICE,)]


def test_a_claim_does_not_bring_a_jvm_into_roots_run(shared: Node, reachable: Path) -> None:
    """Only what root's own command has started belongs to root's run."""
    with shared.recording("mine"):
        trace(shared, ALICE, "mine", reachable)
    assert Run(shared.store, "mine").rows("SELECT pid FROM processes") == []


def test_a_jvm_that_cannot_record_runs_as_ever(shared: Node, reachable: Path) -> None:
    """Row 7: the directory is another user's, who cannot give anything to this one."""
    shared.dir.chmod(0o711)
    os.chown(shared.dir, MALLORY, MALLORY)
    try:
        said = trace(shared, ALICE, "r", reachable)
    finally:
        os.chown(shared.dir, 0, 0)
    assert f"belongs to uid {MALLORY}, neither root nor {ALICE}" in said


def test_guests_that_say_nothing_keep_nobody_waiting(shared: Node) -> None:
    """A user who holds all the places that one user gets is in no other user's way."""
    with subprocess.Popen(
        [str(PYTHON), "-c", HOLD, str(shared.dir)],
        user=MALLORY,
        group=MALLORY,
        extra_groups=[],
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        begin = time.monotonic()
        assert knock(shared.dir, ALICE, "hello").startswith("ok ")
        assert time.monotonic() - begin < 2
        holder.kill()
    assert (shared.dir / str(ALICE)).stat().st_uid == ALICE


def test_a_command_that_is_not_there_is_no_run(shared: Node) -> None:
    """Row 12: what never ran does not become the latest run; an interrupt is stored as such."""
    done = shared.iostrata(
        "record", "--dir", str(shared.dir), "--run", "r", "--", "no-such-command"
    )
    assert done.returncode == 127
    assert not (shared.store / "r").exists()
    words = ["--dir", str(shared.dir), "--run", "c", "--", "sh", "-c", "exit 130"]
    assert shared.iostrata("record", *words).returncode == 130
    assert json.loads((shared.store / "c/run.json").read_text())["state"] == "interrupted"


# Leaves so many bytes free in a file system.
FILL = """
import os, sys
store, left = sys.argv[1], int(sys.argv[2])
with open(store + "/filler", "wb", buffering=0) as filler:
    while (free := os.statvfs(store).f_bavail * 4096) > left:
        if not filler.write(bytes(min(1 << 20, free - left))):
            break
"""


@pytest.mark.parametrize(
    ("left", "said"),
    [
        # What the collector writes anew in between, a page, does not show in this number.
        (3 << 19, "unread events are lacking: the store: 1.5 MiB of 40.0 MiB are free, less than"),
        (0, "is full, what was recorded is not in it: free some space"),
    ],
)
def test_a_full_store_says_so_at_once(left: int, said: str, tmp_path: Path, program: Path) -> None:
    """Row 11: `record` returns soon, with what is missing, why, and the way out."""
    fill = tmp_path / "fill.py"
    fill.write_text(FILL)
    with small_memory_disk(tmp_path / "store", "40m") as store:
        read = " ".join(java(program, tmp_path / "data"))
        script = f"{read} && {sys.executable} {fill} {store} {left}"
        begin = time.monotonic()
        done = record(store, "sh", "-c", script)
        assert time.monotonic() - begin < 20
        assert "no Java process was seen" not in done.stderr
        assert "run r incomplete, exit 0" in done.stderr
        assert said in done.stderr


UNIT = Path(__file__).resolve().parents[2] / "scripts/node/iostrata-collect.service"


def test_the_unit_gives_the_collector_what_it_needs(tmp_path: Path, reachable: Path) -> None:
    """With the capabilities of the systemd unit and no others, two users get what is theirs."""
    (line,) = re.findall(r"^CapabilityBoundingSet=(.*)$", UNIT.read_text(), re.MULTILINE)
    needed = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in line.split())
    only = ["setpriv", f"--bounding-set=-all,{needed}", "--inh-caps=-all", "--no-new-privs"]
    with node(tmp_path / "node", within=only) as shared:
        hers, his = Order(shared, ALICE, "hers"), Order(shared, MALLORY, "his")
        hers.begin()
        his.begin()
        trace(shared, ALICE, hers.name, reachable)
        trace(shared, MALLORY, his.name, reachable)
        hers.end()
        his.end()
        for order in (hers, his):
            run = shared.store / order.name
            assert {path.stat().st_uid for path in (run, *run.rglob("*"))} == {order.uid}
            found = on_target(shared.store, order.name, reachable / "data" / order.name)
            assert found["read"] == (CALLS + 1, CALLS * SIZE)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_what_the_unit_exposes_is_what_the_docs_say(tmp_path: Path) -> None:
    analysed = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    print(analysed.stdout + analysed.stderr)
    found = re.search(r"exposure level for iostrata-collect.service: ([0-9.]+)", analysed.stdout)
    assert found
    said = re.search(r"exposure level of ([0-9.]+)", (UNIT.parents[2] / "SECURITY.md").read_text())
    assert said
    assert float(found[1]) <= float(said[1]) + 0.5  # other versions weigh otherwise
