"""Identity, ports and the ending of real processes."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostrata_lab.clusters import ports, processes
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.processes import Identity


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Identity]:
    process = processes.spawn(["sleep", "60"], dict(os.environ), tmp_path / "log", tmp_path, None)
    yield process
    processes.send(process, signal.SIGKILL)


def test_a_reused_pid_is_somebody_else(sleeper: Identity) -> None:
    other = Identity(sleeper.pid, sleeper.start - 1)
    assert processes.alive(sleeper)
    assert not processes.alive(other)

    processes.send(other, signal.SIGKILL)

    assert processes.alive(sleeper)


def test_a_killed_child_is_gone_not_a_zombie(sleeper: Identity) -> None:
    processes.send(sleeper, signal.SIGKILL)
    assert processes.wait_gone([sleeper], 5) == []


def test_descendants_are_found_through_all_generations() -> None:
    with subprocess.Popen(["bash", "-c", "bash -c 'sleep 61; :' & wait"]) as top:
        # Between fork and exec a child still has the command of its parent.
        deadline = time.monotonic() + 5
        commands: list[str] = []
        while commands != ["bash", "sleep"] and time.monotonic() < deadline:
            time.sleep(0.02)
            found = processes.descendants([top.pid])
            commands = sorted(processes.command(pid)[0] for pid in found)
        for pid in (*found, top.pid):
            os.kill(pid, signal.SIGKILL)
    assert commands == ["bash", "sleep"]


def test_processes_are_found_by_a_variable_they_inherited() -> None:
    env = {**os.environ, "IOSTRATA_TEST": "/labs/a"}
    other = {**os.environ, "IOSTRATA_TEST": "/labs/ab"}
    with (
        subprocess.Popen(["sleep", "62"], env=env) as ours,
        subprocess.Popen(["sleep", "63"], env=other) as stranger,
    ):
        # Between fork and exec a child still has the environment of its parent.
        deadline = time.monotonic() + 5
        while not (found := processes.marked("IOSTRATA_TEST=/labs/a")):
            assert time.monotonic() < deadline
        ours.kill()
        stranger.kill()
    assert found == {ours.pid}


def test_listening_ports_are_those_of_the_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert server.getsockname()[1] in processes.listening(os.getpid())


def test_ports_are_free_distinct_and_not_those_of_other_labs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        used = server.getsockname()[1]
        assert not ports.free(used)
        monkeypatch.setattr(ports, "candidates", lambda: [used, 21001, 21002, 21003])
        monkeypatch.setattr(ports, "free", lambda port: port != used)
        assert set(ports.pick(["a", "b"], {21002}).values()) == {21001, 21003}
        with pytest.raises(LabError, match="no 3 free ports"):
            ports.pick(["a", "b", "c"], {21002})


def test_ports_are_outside_the_range_of_outgoing_connections() -> None:
    low, high = (int(word) for word in ports.EPHEMERAL.read_text().split())
    assert not any(low <= port <= high for port in ports.candidates())
