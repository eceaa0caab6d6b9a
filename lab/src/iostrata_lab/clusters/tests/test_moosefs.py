"""What MooseFS is configured to be, and what is said where it cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostrata_lab import clusters
from iostrata_lab.clusters import layout, moosefs, mounted, namespaces
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Topology
from iostrata_lab.clusters.state import State
from iostrata_lab.clusters.systems import Stage


@pytest.fixture
def known() -> State:
    nodes = Topology(3, 2).planned(7)
    return State("m", "boot", {}, {}, system="moosefs", nodes=nodes, subnet=7, copies=2)


def test_servers_are_told_where_the_master_is_and_on_which_rack_they_are(
    known: State, tmp_path: Path
) -> None:
    layout.make(tmp_path)
    moosefs.fill(known, tmp_path)
    conf = tmp_path / "conf"
    assert (tmp_path / "data/master/metadata.mfs").read_bytes() == b"MFSM NEW"
    assert (conf / "mfstopology.cfg").read_text() == "198.19.7.1 1\n198.19.7.2 1\n198.19.7.3 2\n"
    server = (conf / "node-3.rack-2.cfg").read_text()
    assert "MASTER_HOST = 198.19.7.254\nLABELS = C\n" in server
    assert f"DATA_PATH = {tmp_path}/disk/chunkserver\n" in server
    assert (conf / "mfshdd.cfg").read_text() == f"{tmp_path}/disk/chunks\n"


def test_the_mount_of_this_machine_comes_before_those_of_nodes(
    known: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounted, "found", lambda program: f"/bin/{program}")
    stages: list[Stage] = list(moosefs.stages(known, tmp_path, True))
    roles = [[launch.role for launch in stage.launches] for stage in stages]
    numbers = (1, 2, 3)
    assert roles == [
        ["mfsmaster"],
        [f"mfschunkserver-{number}" for number in numbers],
        ["mfsmount"],
        [f"mfsmount-{number}" for number in numbers],
        [],
    ]
    again = list(moosefs.stages(known, tmp_path, False))
    assert len(again) == len(stages) - 1  # copies are set once


def test_servers_that_are_there_are_counted_once(known: State, tmp_path: Path) -> None:
    log = tmp_path / "log"
    line = "mfsmaster[1]: chunkserver register begin (packet version: 6) - ip: 198.19.7.1 / port: 9"
    log.write_text(f"{line}\n{line}\n")
    assert moosefs._lacks_servers(log, known.nodes) == "1 of 3 chunk servers registered"


@pytest.mark.parametrize("copies", [0, 3])
def test_copies_that_cannot_be_had(copies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounted, "check", lambda _: None)
    with pytest.raises(LabError, match=f"{copies} copies on 2 nodes .from 1 to 2 can be had"):
        clusters.up_moosefs("x", Topology(2), copies=copies)


def test_a_program_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "check", lambda: None)
    monkeypatch.setattr(namespaces, "PATH", "/nowhere")
    with pytest.raises(LabError, match=r"mfsmaster is not installed \(make setup-storage"):
        mounted.check(moosefs.PROGRAMS)


def test_where_nothing_is_mounted_that_is_what_lacks(tmp_path: Path) -> None:
    mounted.mount_point(tmp_path).mkdir()
    assert mounted.lacks_mount(tmp_path, None) == f"nothing is mounted at {tmp_path}/mnt here"
    mounted.unmount(tmp_path)  # nothing to do
