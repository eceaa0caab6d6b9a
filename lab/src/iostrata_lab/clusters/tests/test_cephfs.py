"""What Ceph is configured to be, and what is said where it cannot be had."""

from __future__ import annotations

import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest

from iostrata_lab import clusters
from iostrata_lab.clusters import cephfs, layout, mounted
from iostrata_lab.clusters.errors import LabError
from iostrata_lab.clusters.nodes import Topology
from iostrata_lab.clusters.state import State


@pytest.fixture
def known() -> State:
    nodes = Topology(3, 2).planned(7)
    return State("c", "boot", {}, {}, system="cephfs", nodes=nodes, subnet=7, copies=2)


def test_servers_are_told_where_the_monitor_is_and_on_which_rack_they_are(
    known: State, tmp_path: Path
) -> None:
    layout.make(tmp_path)
    cephfs.fill(known, tmp_path)
    found = ConfigParser(interpolation=None)
    found.read(tmp_path / "conf" / "ceph.conf")
    every = found["global"]
    assert every["mon_host"] == "[v2:198.19.7.254:3300,v1:198.19.7.254:6789]"
    assert every["public_network"] == "198.19.7.0/24"
    assert every["osd_data"] == f"{tmp_path}/disk/osd"
    assert every["osd_pool_default_size"] == "2"
    assert found["osd.2"]["crush_location"] == "root=default rack=rack-2 host=node-3"


def test_a_server_makes_what_it_serves_on_its_first_start_only() -> None:
    make = [["ceph-mon", "--mkfs"]]
    assert cephfs._made(make, ["ceph-mon", "-f"], False) == ["ceph-mon", "-f"]
    made = cephfs._made(make, ["ceph-mon", "-f"], True)
    assert made == ["sh", "-c", "ceph-mon --mkfs && exec ceph-mon -f"]


@pytest.mark.parametrize(
    ("status", "lacks"),
    [
        ('{"osdmap": {"num_up_osds": 1}}', "1 of 2 object servers are up"),
        (
            '{"osdmap": {"num_up_osds": 2}, "fsmap": {"by_rank": [{"status": "up:creating"}]}}',
            "the metadata server is ['up:creating']",
        ),
        ('{"osdmap": {"num_up_osds": 2}, "fsmap": {"by_rank": [{"status": "up:active"}]}}', ""),
    ],
)
def test_what_is_not_there_yet(status: str, lacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 0, status, "")
    monkeypatch.setattr(cephfs, "_ceph", lambda *_: done)
    assert cephfs._lacks_servers(Path(), 2) == lacks


def test_what_the_monitor_does_not_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 0, "Error EINVAL: no such pool\n", "")
    monkeypatch.setattr(cephfs, "_ceph", lambda *_: done)
    assert cephfs._ask(Path(), ["x"]) == "the monitor: Error EINVAL: no such pool"


def test_what_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounted, "check", lambda _: None)
    with pytest.raises(LabError, match=r"3 copies on 2 nodes .from 1 to 2 can be had"):
        clusters.up_cephfs("x", Topology(2), copies=3)
    with pytest.raises(LabError, match=r"no layout is called 'wide' .one of striped, large"):
        clusters.up_cephfs("x", Topology(2), striping="wide")
