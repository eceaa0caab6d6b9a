"""Brakes: what users write, and what the kernel is told."""

from pathlib import Path

import pytest

from iostrata_lab.clusters import brakes, cgroups
from iostrata_lab.clusters.brakes import Brake
from iostrata_lab.clusters.cgroups import Controller
from iostrata_lab.clusters.errors import LabError

V1 = {"cpu": Controller("cpu", 1, Path("/cg/cpu")), "io": Controller("io", 1, Path("/cg/blkio"))}
V2 = {name: Controller(name, 2, Path("/cg")) for name in ("cpu", "io")}


@pytest.mark.parametrize(
    ("text", "bytes_per_second"),
    [
        ("20MB/s", 20_000_000),
        ("20mb/s", 20_000_000),
        ("1.5GB/s", 1_500_000_000),
        ("512KiB/s", 512 * 1024),
        ("800B/s", 800),
        ("off", 0),
    ],
)
def test_a_rate(text: str, bytes_per_second: int) -> None:
    assert brakes.rate(text) == bytes_per_second


@pytest.mark.parametrize("text", ["", "20", "20MB", "MB/s", "-1MB/s", "0MB/s", "0.1B/s", "1e3B/s"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(LabError, match=r"is no rate \(for example 20MB/s, 512KiB/s, or off\)"):
        brakes.rate(text)


@pytest.mark.parametrize("text", ["", "32", "32MB/s", "MB", "-1MB", "1MB"])
def test_what_is_no_size_of_what_waits(text: str) -> None:
    with pytest.raises(LabError, match=r"is no size of 1 MiB or more \(for example 32MB, or off\)"):
        brakes.size(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "0.001", "nan", "inf", "half"])
def test_what_is_no_number_of_cores(text: str) -> None:
    with pytest.raises(LabError, match="is no number of cores"):
        brakes.cores(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x"])
def test_what_is_no_number_of_requests(text: str) -> None:
    with pytest.raises(LabError, match="is no number of requests/s"):
        brakes.operations(text)


def test_a_brake_of_up() -> None:
    found = brakes.parse("node-2:disk=20MB/s,disk-ops=100,dirty=2MiB,net=1MB/s,cpu=0.5")
    assert found == ("node-2", Brake(20_000_000, 100, 2 << 20, 1_000_000, 0.5))
    for bad in ("node-2", "node-2:", ":cpu=1", "node-2:speed=1", "node-2:cpu", "cpu=0.5"):
        with pytest.raises(LabError, match=r"is no brake \(for example node-2:disk=20MB/s"):
            brakes.parse(bad)


def test_what_is_not_named_stays() -> None:
    was = Brake(disk=5, cpu=0.5)
    assert brakes.changed(was, {"net": "1kB/s", "cpu": None}) == Brake(5, 0, 0, 1000, 0.5)
    assert brakes.changed(was, {"disk": "off"}) == Brake(cpu=0.5)


def test_a_brake_as_text() -> None:
    assert str(Brake()) == ""
    assert str(Brake(2 * 10**9, 100, 32_000_000, 1_500_000, 0.25)) == (
        "disk 2 GB/s, disk 100 requests/s, dirty 32 MB, net 1.5 MB/s, cpu 0.25"
    )
    assert brakes.rate_text(999) == "999 B/s"


def test_the_wire_has_a_bucket_that_holds_ten_milliseconds_or_one_large_packet() -> None:
    bucket = ["burst", "65536", "latency", "50ms"]
    replace = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate"]
    assert brakes.wire("eth0", 1_000_000) == [*replace, "8000000bit", *bucket]
    assert brakes.wire("eth0", 100_000_000)[8:11] == ["800000000bit", "burst", "1000000"]
    assert brakes.wire("eth0", 0) == ["tc", "qdisc", "del", "dev", "eth0", "root"]


def test_the_quota_of_either_version() -> None:
    assert brakes.quota(V1["cpu"], 0.5) == {
        "cpu.cfs_period_us": "100000",
        "cpu.cfs_quota_us": "50000",
    }
    assert brakes.quota(V1["cpu"], 0)["cpu.cfs_quota_us"] == "-1"
    assert brakes.quota(V2["cpu"], 2) == {"cpu.max": "200000 100000"}
    assert brakes.quota(V2["cpu"], 0) == {"cpu.max": "max 100000"}


def test_the_throttle_of_either_version() -> None:
    assert brakes.throttle(V1["io"], "7:2", Brake(disk=20, disk_ops=3)) == {
        "blkio.throttle.read_bps_device": "7:2 20",
        "blkio.throttle.read_iops_device": "7:2 3",
        "blkio.throttle.write_bps_device": "7:2 20",
        "blkio.throttle.write_iops_device": "7:2 3",
    }
    assert brakes.throttle(V2["io"], "7:2", Brake(disk=20)) == {
        "io.max": "7:2 rbps=20 wbps=20 riops=max wiops=max"
    }


def test_the_limit_of_what_waits_holds_for_the_device_alone_and_goes_again() -> None:
    assert list(brakes.cache(32_000_000).items()) == [
        ("max_bytes", "32000000"),
        ("strict_limit", "1"),
    ]
    assert brakes.cache(0) == {"strict_limit": "0", "max_ratio": "100"}


def test_controllers_are_found_in_either_version(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory\n")
    v1 = (
        "cgroup /cg/cpu cgroup rw,relatime,cpu,cpuacct 0 0\n"
        "cgroup /cg/cpuset cgroup rw,relatime,cpuset 0 0\n"
        "cgroup /cg/blkio cgroup rw,relatime,blkio 0 0\n"
    )
    v2 = f"cgroup2 {tmp_path} cgroup2 rw,relatime 0 0\n"
    none = "cgroup2 /nowhere cgroup2 rw 0 0\nproc /proc proc rw 0 0\n"
    assert cgroups.found_in(v1) == V1
    assert {c.version for c in cgroups.found_in(v2).values()} == {2}
    assert cgroups.found_in(v2).keys() == {"cpu", "io"}
    assert cgroups.found_in(none) == {}


def test_a_node_enters_the_groups_that_brake_it() -> None:
    assert cgroups.groups(V1, "a", "node-1") == [Path("/cg/cpu/iostrata-lab-a/node-1")]
    assert cgroups.groups(V2, "a", "node-1") == [Path("/cg/iostrata-lab-a/node-1")]


def test_groups_of_version_2_are_made_with_their_controllers(tmp_path: Path) -> None:
    there = {name: Controller(name, 2, tmp_path) for name in ("cpu", "io")}
    cgroups.make(there, "a", "node-1")
    assert (tmp_path / "iostrata-lab-a/node-1").is_dir()
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+io +memory"
    assert (tmp_path / "iostrata-lab-a/cgroup.subtree_control").read_text() == "+io +memory"


def test_a_group_that_takes_no_value_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"gone/cpu\.max does not take 'max': No such file"):
        cgroups.write(tmp_path / "gone", {"cpu.max": "max"})
