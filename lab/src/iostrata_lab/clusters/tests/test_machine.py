"""What a lab refuses before it starts anything: one clear line each."""

import json
import os
from pathlib import Path

import pytest

from iostrata_lab import clusters
from iostrata_lab.clusters import machine, starting, state
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.hadoop.conf import AgentOptions

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can use other uids")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IOSTRATA_LAB_HOME", str(tmp_path / "labs"))
    return tmp_path / "labs"


def test_names_that_leave_the_folder() -> None:
    with pytest.raises(LabError, match=r"'\.\./x' cannot name a lab"):
        clusters.up("../x")


def test_a_missing_agent() -> None:
    with pytest.raises(LabError, match=r"no agent jar at /nowhere\.jar \(build it"):
        clusters.up(agent=AgentOptions(Path("/nowhere.jar"), Path("/dev/shm")))


def test_an_agent_whose_path_would_be_split(tmp_path: Path) -> None:
    jar = tmp_path / "my agent.jar"
    jar.touch()
    with pytest.raises(LabError, match="holds a blank"):
        clusters.up(agent=AgentOptions(jar, Path("/dev/shm")))


def test_no_java(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=f"no Java 17 at {tmp_path}"):
        machine.java_home(tmp_path)


def test_an_old_java(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_402"\n')
    with pytest.raises(LabError, match=r"Java 8 at .*: Hadoop 3\.5\.0 needs 17"):
        machine.java_home(tmp_path)


def test_a_folder_that_is_no_lab_is_not_touched(home: Path) -> None:
    precious = home / "thesis" / "chapter"
    precious.mkdir(parents=True)
    with pytest.raises(LabError, match=r"thesis exists and is no lab \(choose another name"):
        starting.clear("thesis", print)
    assert precious.exists()


def test_unknown_labs() -> None:
    with pytest.raises(LabError, match=r"no lab 'x' \(there is: none\)"):
        clusters.find("x")
    with pytest.raises(LabError, match=r"no lab is running \(start one: iostrata lab up hadoop\)"):
        clusters.find()
    assert clusters.list_labs() == []


@root
def test_a_uid_without_a_name() -> None:
    with pytest.raises(LabError, match="uid 54321 has no name"):
        clusters.up(daemon_users={"hdfs": 54321})


def test_unknown_groups_of_daemons() -> None:
    with pytest.raises(LabError, match="daemon_users has 'hbase'"):
        clusters.up(daemon_users={"hbase": os.geteuid()})


def test_a_home_closed_to_others(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "in").mkdir()
    found = machine.closed(closed / "in")
    assert found is not None
    assert str(closed).startswith(str(found))


def test_a_state_survives_being_written(home: Path) -> None:
    (home / "x").mkdir(parents=True)
    known = state.State(
        name="x",
        boot="b",
        owner={},
        java_home="/jdk",
        lib="/lib",
        datanodes=2,
        yarn=True,
        daemon_users={"hdfs": 1},
        agent=None,
        ports={"namenode": 20000},
        daemons=[state.Daemon("namenode", 10, 20, 1)],
    )
    state.save(known)
    assert state.load("x") == known
    assert not known.running()  # another boot


def test_a_state_of_a_newer_version_is_read(home: Path) -> None:
    """A lab that it started can be found and ended by this one."""
    (home / "x").mkdir(parents=True)
    known = state.State("x", "b", {}, {}, lib="/lib", java_home="/jdk", datanodes=1, yarn=True)
    state.save(known)
    file = home / "x" / "lab.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "invented": 1}))
    assert state.load("x") == known
