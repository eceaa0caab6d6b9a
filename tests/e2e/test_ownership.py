"""Three uids, two runs at once, one DataNode: each sees only their own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.cluster import DFSIO, JOB, Cluster, lab_up
from tests.e2e.serving import wait_until
from tests.e2e.truth import Run

import iostrata
import iostrata_lab
from iostrata.artifacts import agent_jar, native_binary, native_loader
from iostrata_lab import clusters

PYTHON = Path("/usr/bin/python3.11")  # one that other users can run: /root is often closed

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.getuid() != 0, reason="needs root to become three users"),
    pytest.mark.skipif(not PYTHON.exists(), reason=f"no {PYTHON} for other users to run"),
]

# Accounts that every Debian has: the daemons', and two who submit.
HDFS, ALICE, BOB = "daemon", "games", "news"
PUTS = {ALICE: (5_000_000, 1), BOB: (7_000_000, 3)}  # bytes of a file, files


@dataclass(frozen=True)
class Shared:
    """A folder that every uid can enter, with all that the users need."""

    folder: Path
    cluster: Cluster

    def start(self, user: str, *arguments: str) -> subprocess.Popen[str]:
        """Starts a command of iostrata as that user."""
        entry = pwd.getpwnam(user)
        return subprocess.Popen(
            [str(PYTHON), "-m", "iostrata", *arguments],
            env={**self.cluster.environment, **self.environment(user)},
            cwd=self.folder / user,
            user=entry.pw_uid,
            group=entry.pw_gid,
            extra_groups=[],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def record(
        self, user: str, run: str, *command: str, private: bool = False
    ) -> subprocess.Popen[str]:
        """Starts recording on the cluster, with the node's collector or one of the user's own."""
        options = ["--private"] if private else []
        place = ["--lab", self.cluster.name, "--run", run]
        return self.start(user, "record", *options, *place, "--", *command)

    def environment(self, user: str) -> dict[str, str]:
        return {
            "PYTHONPATH": str(self.folder / "site"),
            "HOME": str(self.folder / user),
            "USER": user,
            "LOGNAME": user,
            "IOSTRATA_STORE": str(self.folder / user / "store"),
        }


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=300)
    print(output + errors)
    assert process.returncode == 0, errors[-4000:]
    return errors


@pytest.fixture(scope="module")
def shared(monkeypatch_module: pytest.MonkeyPatch) -> Iterator[Shared]:
    folder = Path(f"/var/tmp/iostrata-owners-{os.getpid()}")
    folder.mkdir()
    folder.chmod(0o755)
    try:
        provide(folder)
        for name in ("AGENT", "NATIVE"):
            built = next(folder.glob(f"iostrata-{name.lower()}*"))
            monkeypatch_module.setenv(f"IOSTRATA_{name}", str(built))
        monkeypatch_module.setenv("IOSTRATA_LAB_HOME", str(folder / "labs"))
        with lab_up(folder, f"owners-{os.getpid()}", "--daemon-user", f"hdfs={HDFS}") as cluster:
            yield Shared(folder, cluster)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def provide(folder: Path) -> None:
    """Copies what other users cannot reach in a checkout below a closed home."""
    shutil.copy2(agent_jar(), folder / "iostrata-agent.jar")
    shutil.copy2(native_loader(), folder / native_loader().name)
    shutil.copy2(native_binary(), folder / "iostrata-native")
    for ours in (iostrata, iostrata_lab):
        source = Path(str(ours.__file__)).parent
        shutil.copytree(source, folder / "site" / source.name)
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        # the clients need no Spark, which is most of all bytes
        wanted = package.name not in ("iostrata", "iostrata_lab", "pyspark")
        if wanted and package.suffix in ("", ".py", ".so", ".dist-info"):
            copy = shutil.copytree if package.is_dir() else shutil.copy2
            copy(package, folder / "site" / package.name)
    for user, (size, files) in PUTS.items():
        entry = pwd.getpwnam(user)
        (folder / user).mkdir()
        for number in range(files):
            (folder / user / f"data-{number}").write_bytes(os.urandom(size))
        for path in (folder / user, *(folder / user).iterdir()):
            os.chown(path, entry.pw_uid, entry.pw_gid)


@pytest.fixture(scope="module")
def runs(shared: Shared) -> dict[str, Run]:
    """Alice's job and Bob's copies at the same time, and somebody who does not record."""
    cluster = shared.cluster
    clusters.find(cluster.name).run(["hadoop", "fs", "-mkdir", "-p", "/alice", "/bob", "/nobody"])
    alice = shared.record(ALICE, "alice", *DFSIO, "-write", "-nrFiles", "1", "-size", "5MB")
    files = [str(path) for path in sorted((shared.folder / BOB).glob("data-*"))]
    bob = shared.record(BOB, "bob", "hadoop", "fs", "-put", *files, "/bob")
    # A DataNode's first request loads its classes: that of a recorded client, to see whose that is.
    data = clusters.find(cluster.name).root / "data"
    wait_until(lambda: any(data.rglob("blk_*")))
    unrecorded = shared.folder / ALICE / "data-0"
    cluster.hadoop("hadoop", "fs", "-put", str(unrecorded), "/nobody/data")
    assert JOB.search(finish(alice))
    finish(bob)
    users = {"alice": ALICE, "bob": BOB}
    return {
        name: Run(cluster.store, f"{name}.{pwd.getpwnam(user).pw_uid}")
        for name, user in users.items()
    }


def test_each_run_belongs_to_its_submitter(shared: Shared, runs: dict[str, Run]) -> None:
    for name, user in (("alice", ALICE), ("bob", BOB)):
        for path in (runs[name].path, *runs[name].path.rglob("*")):
            assert path.stat().st_uid == pwd.getpwnam(user).pw_uid, path
            assert path.stat().st_mode & 0o077 == 0, path
        assert runs[name].rows("SELECT DISTINCT owner FROM events") == [(user,)]


def test_the_other_cannot_read_it(shared: Shared, runs: dict[str, Run]) -> None:
    entry = pwd.getpwnam(BOB)
    done = subprocess.run(
        ["/bin/ls", "-R", str(runs["alice"].path)],
        user=entry.pw_uid,
        group=entry.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Permission denied" in done.stderr


DATANODE_BYTES = (
    "SELECT coalesce(sum(bytes), 0)::BIGINT FROM events WHERE kind = 'sum' "
    "AND layer = 'datanode' AND op = 'write' AND (flags & 32) = 0"
)


def test_datanode_bytes_are_whose_they_are(runs: dict[str, Run]) -> None:
    """Bob's DataNode bytes are his three files; Alice's are what her own clients wrote."""
    size, files = PUTS[BOB]
    assert runs["bob"].one(DATANODE_BYTES) == size * files
    written = runs["alice"].one(
        "SELECT sum(bytes)::BIGINT FROM events WHERE kind = 'sum' AND layer = 'fs' "
        "AND op = 'write' AND category = 'hdfs' AND (flags & 32) = 0"
    )
    assert runs["alice"].one(DATANODE_BYTES) == written > 5 * 1024 * 1024


def test_blocks_are_in_one_run_only(shared: Shared, runs: dict[str, Run]) -> None:
    query = "SELECT DISTINCT block FROM events WHERE block >= 0 AND layer = 'datanode'"
    blocks = {name: {row[0] for row in run.rows(query)} for name, run in runs.items()}
    assert blocks["alice"]
    assert blocks["bob"]
    assert not blocks["alice"] & blocks["bob"]
    unrecorded = {block.number for block in shared.cluster.blocks("/nobody")}
    assert unrecorded
    assert not unrecorded & (blocks["alice"] | blocks["bob"])


def test_background_is_in_neither(runs: dict[str, Run]) -> None:
    """What a DataNode does on nobody's behalf has no client and no task: no such row."""
    for name, run in runs.items():
        nobody = run.rows(
            "SELECT DISTINCT op, thread FROM events WHERE kind = 'call' AND role = 'DataNode' "
            "AND thread NOT LIKE 'DataXceiver%' AND thread NOT LIKE 'PacketResponder%'"
        )
        assert nobody == [], name


def test_a_run_names_no_process_of_the_other(runs: dict[str, Run]) -> None:
    clients = {
        name: {row[0] for row in run.rows("SELECT pid FROM processes WHERE role = 'client'")}
        for name, run in runs.items()
    }
    assert clients["alice"]
    assert clients["bob"]
    assert not clients["alice"] & clients["bob"]
    assert not runs["bob"].rows("SELECT pid FROM processes WHERE role IN ('map', 'reduce')")


def test_without_root_the_daemons_are_missing_by_name(shared: Shared) -> None:
    """GIVEN a collector of one user WHEN that user records THEN the summary says what it lacks."""
    finish(shared.record(BOB, "private", "hadoop", "fs", "-ls", "/bob", private=True))
    summary, errors = shared.start(BOB, "summary", "private", "--full").communicate(timeout=180)
    print(summary + errors)
    assert summary.startswith("traced 1/")
    assert "not traced: DataNode" in summary
