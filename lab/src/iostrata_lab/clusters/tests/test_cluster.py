"""Real clusters: what is promised of `up`, `status`, `run` and `down`."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostrata_lab import clusters
from iostrata_lab.clusters import HadoopLab, LabError, daemons, layout, ports, processes, state
from iostrata_lab.clusters.hadoop import system
from iostrata_lab.clusters.hadoop.history import FILE_SYSTEM
from iostrata_lab.clusters.tests import stub_agent

pytestmark = pytest.mark.cluster

ROOT = os.geteuid() == 0
MB = 1 << 20


def uid(name: str) -> int:
    """The uid of one of Debian's own users, who have names that Java can log in with."""
    return pwd.getpwnam(name).pw_uid if ROOT else os.geteuid()


@pytest.fixture(scope="module", autouse=True)
def folder() -> Iterator[Path]:
    """A home for labs that other users may enter, which pytest's own folders are not."""
    path = Path(tempfile.mkdtemp(prefix="iostrata-lab-"))
    path.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOSTRATA_LAB_HOME", str(path / "labs"))
        yield path
        left = [lab.name for lab in clusters.list_labs()]
        for lab in clusters.list_labs():
            lab.down()
    shutil.rmtree(path)
    assert left == []


@pytest.fixture(scope="module")
def agent(folder: Path) -> clusters.AgentOptions:
    return stub_agent.build(folder)


@pytest.fixture(scope="module")
def lab(agent: clusters.AgentOptions) -> Iterator[HadoopLab]:
    users = {"hdfs": uid("daemon"), "yarn": uid("bin")} if ROOT else None
    found = clusters.up("one", datanodes=2, agent=agent, daemon_users=users, progress=print)
    yield found
    assert_nothing_left(found, found.down)


def assert_nothing_left(lab: HadoopLab, end: object) -> None:
    known = lab.state
    open_ports = {port for daemon in lab.status() for port in daemon.ports}
    assert callable(end)
    end()
    assert not lab.root.exists()
    assert daemons.belonging(known, lab.root) == []
    assert [port for port in open_ports if not ports.free(port)] == []
    assert lab.name not in state.names()


def test_status_names_every_daemon(lab: HadoopLab, agent: clusters.AgentOptions) -> None:
    found = {daemon.role: daemon for daemon in lab.status()}
    assert list(found) == ["namenode", "datanode-1", "datanode-2", "resourcemanager", "nodemanager"]
    for daemon in found.values():
        assert daemon.alive
        assert daemon.agent
        assert 50 * MB < daemon.rss < 1000 * MB
        assert daemon.log.stat().st_size > 0
    assert lab.state.ports["namenode"] in found["namenode"].ports
    assert len(found["datanode-2"].ports) >= 3
    assert lab.log_path("datanode") == lab.log_path("datanode-1")
    with pytest.raises(LabError, match=r"no 'journalnode' \(it has: namenode, datanode-1"):
        lab.log_path("journalnode")
    assert list(layout.data(lab.root, "resourcemanager").glob("nodeattribute.*"))
    owners = {daemon.role: daemon.uid for daemon in lab.daemons()}
    assert owners["datanode-1"] == uid("daemon")
    assert owners["nodemanager"] == uid("bin")
    roles = ["DataNode", "DataNode", "NameNode", "NodeManager", "ResourceManager"]
    assert [command for command, _, _ in stub_agent.jvms(agent)] == roles


def test_a_running_lab_is_not_started_again(lab: HadoopLab) -> None:
    with pytest.raises(LabError, match=r"lab one is already running \(end it: iostrata lab down"):
        clusters.up(lab.name)


def test_a_job_of_another_user_through_every_launcher(
    lab: HadoopLab, agent: clusters.AgentOptions
) -> None:
    """TestDFSIO, with the agent in its client, ApplicationMaster and tasks."""
    before = len(stub_agent.jvms(agent))
    argv = ["hadoop", "org.apache.hadoop.fs.TestDFSIO", "-D", "test.build.data=/user/dfsio"]
    argv += ["-D", "mapreduce.map.speculative=false"]  # as many JVMs on a slow host
    argv += ["-write", "-nrFiles", "2", "-size", "1MB"]

    began = time.monotonic()
    done = lab.run(
        argv,
        env={"HADOOP_CLIENT_OPTS": agent.option},
        user=uid("games"),
        capture_output=True,
        timeout=120,
    )
    print(f"job: {time.monotonic() - began:.1f} s")

    assert done.returncode == 0, done.stderr
    assert len(stub_agent.jvms(agent)) - before == 5
    user = pwd.getpwuid(uid("bin")).pw_name
    tasks = [jvm for jvm in stub_agent.jvms(agent) if jvm[0] in ("YarnChild", "MRAppMaster")]
    assert tasks == [("MRAppMaster", user, "")] + [("YarnChild", user, "")] * 3
    job = re.search(r"Running job: (job_\d+_\d+)", done.stderr)
    assert job
    history = lab.job_history(job[1])
    assert history.state == "SUCCEEDED"
    written = [attempt.counters[FILE_SYSTEM]["HDFS_BYTES_WRITTEN"] for attempt in history.attempts]
    assert written[:2] == [MB, MB]

    def said(*command: str) -> str:
        return lab.run(command, capture_output=True, timeout=60, check=True).stdout

    assert said("hdfs", "dfs", "-stat", "%b %r", "/user/dfsio/io_data/test_io_0") == f"{MB} 2\n"
    assert said("hadoop", "fs", "-stat", "%b %r", "/user/dfsio/io_data/test_io_1") == f"{MB} 2\n"
    assert job[1] in said("mapred", "job", "-list", "all")
    application = job[1].replace("job", "application")
    assert application in said("yarn", "application", "-list", "-appStates", "ALL")
    assert "Live datanodes (2)" in said("hdfs", "dfsadmin", "-report")
    namenode = f"hdfs://127.0.0.1:{lab.state.ports['namenode']}\n"
    assert said("hdfs", "getconf", "-confKey", "fs.defaultFS") == namenode


def test_labs_stand_side_by_side(lab: HadoopLab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has HDFS alone, and first a port that another program holds."""
    pick, calls = ports.pick, []

    def first_taken(names: tuple[str, ...], taken: set[int]) -> dict[str, int]:
        calls.append(names)
        found = pick(names, taken)
        return {**found, "namenode": port} if len(calls) == 1 else found

    monkeypatch.setattr(ports, "pick", first_taken)
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        second = clusters.up("two", yarn=False, progress=said.append)

    assert "another program took one of the ports, again with others" in said
    assert clusters.find().name == "two"
    assert [daemon.role for daemon in second.daemons()] == ["namenode", "datanode-1"]
    assert not any(daemon.agent for daemon in second.status())
    assert_nothing_left(second, second.down)
    assert all(daemon.alive for daemon in lab.status())
    assert clusters.find().name == "one"


@pytest.mark.drawn("ends of a lab", 1)
def test_a_daemon_that_dies_at_once_is_named_with_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = system.HADOOP.fill

    def spoiled(known: state.State, root: Path) -> None:
        fill(known, root)
        layout.data(root, "datanode-1").rmdir()
        layout.data(root, "datanode-1").write_text("not a directory")

    monkeypatch.setattr(system, "HADOOP", replace(system.HADOOP, fill=spoiled))
    with pytest.raises(
        LabError, match="the datanode-1 of lab three ended while it started"
    ) as caught:
        clusters.up("three", yarn=False)
    assert "Too many failed volumes" in caught.value.log
    kept = state.home() / "three.datanode-1.log"
    assert str(kept) in caught.value.remedy
    assert caught.value.log.splitlines()[-1] in kept.read_text()
    assert not (state.home() / "three").exists()


@pytest.mark.drawn("ends of a lab", 1)
def test_ctrl_c_cleans_up() -> None:
    # a shell that runs the tests in the background has them ignore SIGINT, and Python with them
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from iostrata_lab import clusters; clusters.up('four', yarn=False)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE) as starting:
        path = state.home() / "four" / "lab.json"
        deadline = time.monotonic() + 30
        known: dict[str, list[dict[str, int]]] = {}
        while len(known.get("daemons", [])) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            known = json.loads(path.read_text()) if path.exists() else {}
        starting.send_signal(signal.SIGINT)
        _, errors = starting.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert not path.parent.exists(), errors.decode()
    for daemon in known["daemons"]:
        assert not processes.alive(processes.Identity(daemon["pid"], daemon["start"]))


@pytest.mark.drawn("ends of a lab", 1)
def test_what_a_crash_left_is_cleaned_by_the_next_up() -> None:
    """The whole lab but its directory is killed, as by a power cut."""
    lab = clusters.up("five", yarn=False)
    for process in daemons.belonging(lab.state, lab.root):
        processes.send(process, signal.SIGKILL)
    processes.wait_gone([daemon.identity for daemon in lab.daemons()], 10)
    assert [daemon.alive for daemon in clusters.find("five").status()] == [False, False]
    said: list[str] = []
    again = clusters.up("five", yarn=False, progress=said.append)
    assert said[0] == "removing what is left of lab five"
    assert_nothing_left(again, again.down)
