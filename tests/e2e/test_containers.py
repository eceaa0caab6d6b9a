"""JVMs in containers, made of namespaces: traced and exact, or named with reason and fix."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.commands import run as command
from tests.e2e.serving import Node, wait_until
from tests.e2e.test_harmless import CALLS as APPENDS
from tests.e2e.test_harmless import THREADS, right_files
from tests.e2e.test_java import CALLS, SIZE, java, on_target
from tests.e2e.test_shared_node import ALICE, PYTHON, Order, record, trace
from tests.e2e.truth import Run

from iostrata.artifacts import agent_jar, native_binary, native_loader

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="needs root for namespaces and mounts"),
    pytest.mark.skipif(not PYTHON.exists(), reason=f"no {PYTHON} for other users to run"),
]

EXACT = {"write": (CALLS, CALLS * SIZE), "read": (CALLS + 1, CALLS * SIZE)}
LONG_ENOUGH = "600"  # ms, for a look at all processes

# A container as Docker makes it: /dev/shm of its own, of 64 MB. Words: what to do inside before the
# command, then the command; the directory of the collector is at $KEPT, as a volume is.
DOCKER = """
set -e
mount --make-rprivate /
mkdir -p "$KEPT"
[ -z "$DIR" ] || mount --bind "$DIR" "$KEPT"
mount -t tmpfs -o size=64m tmpfs /dev/shm
eval "$1"
shift
exec "$@"
"""
VOLUME = 'mkdir -p "$DIR"; mount --bind "$KEPT" "$DIR"'


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """Jar and library as on a node, outside of shared memory, where every user can read them."""
    folder = Path(tempfile.mkdtemp(prefix="iostrata-installed-", dir="/var/tmp"))
    folder.chmod(0o755)
    for file in (agent_jar(), native_loader()):
        shutil.copyfile(file, folder / file.name)
    yield folder
    shutil.rmtree(folder)


def option(installed: Path, directory: Path, run: str) -> str:
    return f"-agentpath:{installed}/{native_loader().name}=dir={directory},run={run}"


def in_docker(folder: Path, before: str, directory: Path | str = "") -> list[str]:
    """Words before a command that runs in such a container."""
    variables = [f"DIR={directory}", f"KEPT={folder / 'kept'}"]
    inside = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--net", "--uts", "--ipc"]
    return ["env", *variables, *inside, "sh", "-c", DOCKER, "sh", before]


def recorded(here: Node, run: str, *words: str) -> tuple[str, list[str]]:
    """Records a command; what it and the recorder said, and the first lines of the summary."""
    done = here.iostrata("record", "--dir", str(here.dir), "--run", run, "--", *words)
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n")
    return done.stderr, summary(here.store, run)


def summary(store: Path, run: str) -> list[str]:
    environment = {**os.environ, "IOSTRATA_STORE": str(store)}
    lines = command(("summary", run, "--full"), environment, store, 60).stdout.splitlines()
    print("\n".join(lines))
    return lines


@pytest.mark.parametrize("names", [["--pid"], ["--pid", "--mount-proc"]], ids=" ".join)
def test_a_pid_namespace_of_its_own(here: Node, reachable: Path, names: list[str]) -> None:
    """A container's process has another pid inside, with a `/proc` of its own or the host's."""
    order = Order(here, 0, "inside")
    order.begin()
    trace(here, 0, "inside", reachable, "unshare", "--fork", *names)
    order.end()
    assert on_target(here.store, "inside", reachable / "data/inside") == EXACT


def test_all_namespaces_but_a_shared_dev_shm(here: Node, program: Path, tmp_path: Path) -> None:
    """As `docker run --ipc=host`: mounts, network, pids, names and users (root is root) are its
    own, /dev/shm is the host's."""
    inside = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--uts"]
    words = [*inside, "--ipc", "--user", "--map-root-user", *java(program, tmp_path / "data")]
    _, lines = recorded(here, "r", *words)
    assert lines[0] == "traced 1/1 processes, 0 dropped"
    assert on_target(here.store, "r", tmp_path / "data") == EXACT


def test_docker_with_the_directory_as_a_volume(
    here: Node, program: Path, installed: Path, tmp_path: Path
) -> None:
    options = option(installed, here.dir, "r")
    words = in_docker(tmp_path, f"{VOLUME}; export JAVA_TOOL_OPTIONS={options}", here.dir)
    _, lines = recorded(here, "r", *words, *java(program, tmp_path / "data"))
    assert lines[0] == "traced 1/1 processes, 0 dropped"
    assert on_target(here.store, "r", tmp_path / "data") == EXACT


def test_docker_without_the_directory(
    here: Node, program: Path, installed: Path, tmp_path: Path
) -> None:
    """The JVM and the run say why it is not traced, and what to do."""
    options = option(installed, here.dir, "r")
    words = in_docker(tmp_path, f"export JAVA_TOOL_OPTIONS={options}")
    said, lines = recorded(here, "r", *words, *java(program, tmp_path / "data"), LONG_ENOUGH)
    fix = f"docker run --ipc=host, or -v {here.dir}:{here.dir}"
    assert f"not tracing: {here.dir} does not exist; in a container: {fix}\n" in said
    assert lines[0] == "traced 0/1 processes, 0 dropped"
    assert lines[1].startswith("not traced: client pid ")
    assert lines[1].endswith(f" (its container has another {here.dir} or none: {fix})")


# A JVM while nothing is free in /dev/shm, and one while there is room for some of its threads.
FILL = """
first=$1; shift
cat /dev/zero >/dev/shm/full 2>/dev/null
$first
rm /dev/shm/full
free=$(df --output=avail /dev/shm | tail -1)
head -c $(( (free - 1536) * 1024 )) /dev/zero >/dev/shm/full
"$@"
rm /dev/shm/full
"""


def test_docker_whose_shared_memory_fills_up(program: Path, tmp_path: Path) -> None:
    """Recorder, collector and JVMs are in it: what has no room is counted, the reason is named."""
    prefix, store = tmp_path / "append-", tmp_path / "store"
    appends = ["java", "-cp", str(program), "Appends", str(prefix), str(THREADS), str(APPENDS)]
    reads = " ".join([*java(program, tmp_path / "data"), LONG_ENOUGH])
    words = ["sh", "-c", FILL, "sh", reads, *appends]
    done = record(store, *words, within=in_docker(tmp_path, ""))
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\ndone\n")
    assert right_files(prefix)
    full = "shared memory is full: free some of it, or docker run --shm-size=1g"
    (line,) = [line for line in done.stderr.splitlines() if "not tracing: " in line]
    assert line.endswith(f"No space left on device (os error 28); {full}")
    losses = Run(store, "r").losses()
    assert losses["refused"] > 0
    lines = summary(store, "r")
    assert lines[0].startswith("traced 1/2 processes, ")
    assert f" {losses['refused']} segments or names rejected" in lines[0]
    assert lines[1] == f"rejected in 1 process: {full}"
    assert lines[2].startswith("not traced: client pid ")


@pytest.fixture
def alices(reachable: Path) -> Iterator[Node]:
    """A collector of Alice's own."""
    directory = Path(tempfile.mkdtemp(prefix="iostrata-test-alice-", dir="/dev/shm"))
    folder = reachable / "alice"
    folder.mkdir()
    for own in (directory, folder):
        own.chmod(0o711)
        os.chown(own, ALICE, ALICE)
    binary = shutil.copy(native_binary(), reachable / "iostrata-native")
    shutil.copy(native_loader(), directory)
    shutil.copy(agent_jar(), directory)
    words = [binary, "collect", "--dir", directory, "--store", folder / "store", "--grace", "1s"]
    words += ["--spool", folder / "spool"]
    with subprocess.Popen(
        [str(word) for word in words], user=ALICE, group=ALICE, extra_groups=[]
    ) as collector:
        wait_until(lambda: (directory / "door").exists())
        yield Node(folder, directory)
        collector.terminate()
    shutil.rmtree(directory)


def test_a_user_namespace_with_root_mapped(alices: Node, reachable: Path) -> None:
    """As a container that a user starts without root: inside she is root, outside she is Alice."""
    order = Order(alices, ALICE, "mapped")
    order.begin()
    inside = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    trace(alices, ALICE, order.name, reachable, *inside)
    order.end()
    run = Run(alices.store, order.name)
    assert run.rows("SELECT uid, traced FROM processes") == [(ALICE, True)]
    assert on_target(alices.store, order.name, reachable / "data" / order.name) == EXACT


@pytest.mark.parametrize(
    ("uid", "inside"), [(0, ["--user"]), (ALICE, ["--user", "--map-root-user"])], ids=str
)
def test_a_user_namespace_that_hides_whose_the_directory_is(
    here: Node, reachable: Path, uid: int, inside: list[str]
) -> None:
    """The JVM runs as ever; it and the run say why it is not traced."""
    order = Order(here, uid, "hidden")
    order.begin()
    words = java(reachable, reachable / "data/hidden")
    become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    done = subprocess.run(
        [*become, "unshare", *inside, *words, LONG_ENOUGH],
        env={**os.environ, "JAVA_TOOL_OPTIONS": option(here.dir, here.dir, order.name)},
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stderr)
    order.end()
    assert done.stdout == f"read {CALLS * SIZE}\n"
    fix = "iostrata record --private"
    assert "a user namespace hides whose it is" in done.stderr
    assert fix in done.stderr
    lines = summary(here.store, order.name)
    assert lines[0] == "traced 0/1 processes, 0 dropped"
    (line,) = [line for line in lines if line.startswith("not traced: client pid ")]
    assert f"its user namespace does not know whose {here.dir} is: " in line
    assert fix in line


def test_a_job_that_sets_java_tool_options_itself(
    here: Node, program: Path, tmp_path: Path
) -> None:
    """Then the agent's option is gone: the run counts such a JVM, and says what to do."""
    words = [*java(program, tmp_path / "data"), LONG_ENOUGH]
    replaced = ["env", "JAVA_TOOL_OPTIONS=-Dx=y", *words]
    cleared = ["env", "-i", *[shutil.which("java") or "java", *words[1:]]]
    kept = ["sh", "-c", 'JAVA_TOOL_OPTIONS="$JAVA_TOOL_OPTIONS -Dx=y" exec "$@"', "sh", *words[:-1]]
    scripts = [" ".join(f"'{word}'" for word in one) for one in (replaced, cleared, kept)]
    done = here.iostrata(
        "record", "--dir", str(here.dir), "--run", "r", "--", "sh", "-c", "; ".join(scripts)
    )
    assert (done.returncode, done.stdout) == (0, f"read {CALLS * SIZE}\n" * 3)
    assert "iostrata: traced 1/3 processes, 0 dropped; not traced: client pid " in done.stderr
    own = "(no agent: the job sets its own JAVA_TOOL_OPTIONS, it should add to "
    assert f"{own}${{JAVA_TOOL_OPTIONS}})" in done.stderr
    none = "(no agent: JAVA_TOOL_OPTIONS is not in its environment, as behind env -i or sudo"
    assert f"{none}: pass it on)" in done.stderr
    assert summary(here.store, "r")[0] == "traced 1/3 processes, 0 dropped"
    reasons = Run(here.store, "r").rows("SELECT traced, reason <> '' FROM processes ORDER BY 1, 2")
    assert reasons == [(False, True), (False, True), (True, False)]
