"""What makes a node a host: the commands, and a real one without Hadoop."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostrata_lab import clusters
from iostrata_lab.clusters import cgroups, daemons, namespaces, nodes, processes, state
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.namespaces import Place
from iostrata_lab.clusters.nodes import Node, Topology
from iostrata_lab.clusters.state import State

MB = 10**6
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces")


def test_who_is_not_root_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match=r"nodes need root: they are namespaces.* \(use sudo\)"):
        clusters.up("x", topology=Topology(2))


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(namespaces, "PATH", "/nowhere")
    with pytest.raises(LabError, match=r"nodes need ip \(apt-get install iproute2\)"):
        clusters.up("x", topology=Topology(2))


def test_a_command_that_fails_is_named_with_what_it_said() -> None:
    with pytest.raises(LabError, match=r"^sh -c echo why >&2; exit 3: why \(nodes need a kernel"):
        namespaces.run(["sh", "-c", "echo why >&2; exit 3"])


def test_a_daemon_on_a_node_enters_all_of_it_as_its_user() -> None:
    node = Node("node-1.rack-1", "/rack-1", "198.19.1.1", pid=77)
    plain = namespaces.inside(node, ["hdfs", "datanode"], Path("/tmp"), None)
    assert plain == [
        *("nsenter", "--target", "77", "--net", "--uts", "--mount"),
        *("sh", "-c", 'cd "$0" && exec "$@"', "/tmp", "hdfs", "datanode"),
    ]
    user = namespaces.inside(node, ["x"], Path("/tmp"), 1)  # daemon of Debian
    assert user[6:10] == ["--setgid", "1", "--setuid", "1"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place of no lab; whatever a test leaves in it is ended."""
    monkeypatch.setenv("IOSTRATA_LAB_HOME", str(tmp_path))
    name = f"unit-{os.getpid()}"
    root = tmp_path / name
    (root / "conf").mkdir(parents=True)
    (root / "conf/hosts").write_text("198.19.1.1 node-1.rack-1\n")
    subnet = nodes.free_subnet(range(1, 100), namespaces.interfaces())
    yield Place(name, root, subnet, {**os.environ, daemons.MARK: str(root)})
    daemons.stop(known(name, subnet, [Node("", "", "")]), root)


def known(name: str, subnet: int, held: list[Node]) -> State:
    boot = processes.boot()
    return State(name, boot, {}, {}, nodes=held, subnet=subnet)


def on(node: Node, *command: str) -> str:
    """What a command says that runs on a node."""
    argv = namespaces.inside(node, command, Path("/"), None)
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


@needs_root
def test_a_node_is_a_host_and_leaves_nothing(place: Place) -> None:
    before = (namespaces.interfaces(), os.uname().nodename, Path("/proc/mounts").read_text())
    planned = Topology(2, 2, {"node-2": Brake(disk=5 * MB, net=MB, cpu=0.5)}).planned(place.subnet)

    pairs = list(namespaces.set_up(place, planned))

    (hub, first), (_, second) = pairs
    assert nodes.interface(place.subnet) in namespaces.interfaces()
    assert [on(node, "hostname") for node in (first, second)] == ["node-1.rack-1", "node-2.rack-2"]
    assert on(first, "cat", "/etc/hosts") == "198.19.1.1 node-1.rack-1"
    assert on(first, "stat", "-f", "-c", "%T", str(place.disk)) == "ext2/ext3"
    assert list(place.disk.iterdir()) == []  # seen from outside of nodes
    assert Path("/proc/mounts").read_text() == before[2]
    tbf = on(second, "tc", "qdisc", "show", "dev", "eth0")
    assert "tbf" in tbf
    assert "rate 8Mbit" in tbf
    there = cgroups.controllers()
    if there["cpu"].version == 1:
        group = there["cpu"].group(place.lab, second.name)
        assert (group / "cpu.cfs_quota_us").read_text() == "50000\n"
    if there["io"].version == 1:
        throttles = (there["io"].root / "blkio.throttle.write_bps_device").read_text()
        assert f"{second.device} {5 * MB}\n" in throttles
        assert f"{first.device} " not in throttles

    free = namespaces.set_brake(place, hub, second, Brake(cpu=0.25))

    assert free.brake == Brake(cpu=0.25)
    assert "tbf" not in on(second, "tc", "qdisc", "show", "dev", "eth0")

    daemons.stop(known(place.lab, place.subnet, [first, free]), place.root)

    assert (namespaces.interfaces(), os.uname().nodename) == before[:2]
    assert not any(one.group(place.lab).exists() for one in there.values())
    assert namespaces._own_loops(place) == set()
    if there["io"].version == 1:
        throttles = (there["io"].root / "blkio.throttle.write_bps_device").read_text()
        assert f"{second.device} " not in throttles


@needs_root
def test_a_disk_keeps_its_files_when_the_lab_is_started_again(place: Place) -> None:
    planned = Topology(1).planned(place.subnet)
    ((_, held),) = namespaces.set_up(place, planned)
    (namespaces.on_disk(place, held) / "block").write_text("kept")
    daemons.stop(known(place.lab, place.subnet, [held]), place.root)
    ((_, again),) = namespaces.set_up(place, [held])
    assert (namespaces.on_disk(place, again) / "block").read_text() == "kept"
    assert again.pid != held.pid


@needs_root
def test_what_a_kill_left_is_found_without_any_record(place: Place) -> None:
    """The one that started it is gone, and nothing was written down but the lab's name."""
    planned = Topology(1, 1, {"node-1": Brake(disk=5 * MB)}).planned(place.subnet)
    ((_, held),) = namespaces.set_up(place, planned)

    daemons.stop(known(place.lab, place.subnet, planned), place.root)

    assert not processes.alive(held.holder)
    assert nodes.interface(place.subnet) not in namespaces.interfaces()
    io = cgroups.controllers()["io"]
    if io.version == 1:
        throttles = (io.root / "blkio.throttle.write_bps_device").read_text()
        assert f"{held.device} " not in throttles


@needs_root
def test_nothing_is_written_where_no_disk_is_mounted(place: Place) -> None:
    place.disk.mkdir()
    with pytest.raises(LabError, match=f"{place.disk} is no mount"):
        namespaces._device(place, os.getpid())
    me = processes.identify(os.getpid())
    assert me is not None
    node = replace(Topology(1).planned(1)[0], pid=me.pid, start=me.start)
    with pytest.raises(LabError, match="is no mount"):
        namespaces.entering(place, node, ["true"], place.root, None)


@needs_root
def test_a_node_without_namespaces_is_not_entered(place: Place) -> None:
    node = replace(Topology(1).planned(1)[0], pid=os.getpid(), start=1)
    with pytest.raises(LabError, match=r"node-1\.rack-1 of lab unit-\d+ has lost its namespaces"):
        namespaces.entering(place, node, ["true"], place.root, None)


@needs_root
def test_a_step_that_fails_ends_the_making(place: Place) -> None:
    (place.root / "conf/hosts").unlink()
    with pytest.raises(LabError, match=r"unshare --net --uts --mount .*: mount: .*hosts"):
        list(namespaces.set_up(place, Topology(1).planned(place.subnet)))


def test_nodes_survive_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOSTRATA_LAB_HOME", str(tmp_path))
    (tmp_path / "x").mkdir()
    held = Topology(2, 1, {"node-2": Brake(disk=1, cpu=0.5)}).planned(3)
    one = known("x", 3, held)
    state.save(one)
    assert state.load("x") == one
    assert one.head == "198.19.3.254"
