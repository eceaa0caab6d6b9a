from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.errors import InternalError
from iostrata.replay.flows import Flows, PartFlow, slowed_to
from iostrata.replay.jobs import AttemptPart, HostDisk, SharedCluster
from iostrata.replay.tests.twins import MB, cluster, part

DISK = HostDisk(10 * MB, 50 * MB)


def ends(shared: SharedCluster, *parts: AttemptPart, host: str = "one") -> list[float]:
    """When each part ends, all of which begin at once."""
    flows = Flows(shared)
    begun = [flows.begin(each, host) for each in parts]
    found = {}
    while flows.flowing:
        found.update(dict.fromkeys(flows.until(math.inf), flows.time))
    return [round(found[flow], 6) for flow in begun]


def test_parts_share_the_cores_of_their_machine() -> None:
    work = part(cpu=3.0)
    assert ends(cluster(cores=2), work) == [3.0]
    assert ends(cluster(cores=2), part(cpu=3.0, cores=1.5)) == [2.0]
    assert ends(cluster(cores=2), *[work] * 4) == [6.0] * 4
    # the one that ends first leaves its share to the others
    assert ends(cluster(cores=1), part(cpu=1.0), part(cpu=2.0)) == [2.0, 3.0]


def test_what_needs_no_cpu_is_not_slowed_down() -> None:
    assert ends(cluster(cores=1), part(kept=5.0), *[part(cpu=1.0)] * 2) == [5.0, 2.0, 2.0]
    # half of the time of each is work, so two of them fit into one core
    assert ends(cluster(cores=1), *[part(cpu=1.0, kept=1.0)] * 2) == [2.0, 2.0]


def test_weights_share_a_busy_cpu_and_no_other() -> None:
    one, other = part(cpu=2.0, weight=2.0), part(cpu=1.0)
    assert ends(cluster(cores=1), one, other) == [3.0, 3.0]
    assert ends(cluster(cores=2), one, other) == [2.0, 1.0]


def test_writers_wait_when_dirty_memory_is_full() -> None:
    write = part(cpu=1.0, dirtied=100 * MB)
    assert ends(cluster(disks={"one": HostDisk(10 * MB, 200 * MB)}), write) == [1.0]
    # 50 MB wait, and all others go at the rate of the disk
    assert ends(cluster(disks={"one": DISK}), write) == [5.0]
    assert ends(cluster(disks={"one": DISK}), write, write) == [15.0, 15.0]
    # blocks on another host's disk, whatever its own does
    away = part(cpu=1.0, hdfs={"two": 100 * MB})
    assert ends(cluster(disks={"one": DISK}), away) == [1.0]
    assert ends(cluster(disks={"two": DISK}), away) == [5.0]


def test_what_a_disk_holds_leaves_its_cpu_to_others() -> None:
    slow, busy = part(cpu=1.0, dirtied=100 * MB), part(cpu=4.0)
    shared = cluster(cores=1, disks={"one": HostDisk(10 * MB, 10 * MB)})
    assert ends(shared, slow, busy)[1] < 4.6


def test_readers_wait_for_the_disk() -> None:
    read = part(cpu=0.1, read={"one": 40 * MB})
    assert ends(cluster(disks={"one": DISK}), read) == [4.0]
    assert ends(cluster(disks={"one": DISK}), read, read) == [8.0, 8.0]


def test_dirty_bytes_go_on_to_the_disk_between_parts() -> None:
    flows = Flows(cluster(disks={"one": DISK}))
    flows.begin(part(cpu=0.1, dirtied=50 * MB), "one")
    (_,) = flows.until(math.inf)
    assert flows.until(5.2) == []  # all but 1 MB or so is on the disk
    flows.begin(part(cpu=0.1, dirtied=50 * MB), "one")
    (_,) = flows.until(math.inf)
    assert flows.time == pytest.approx(5.3, abs=1e-6)


def test_nothing_to_wait_for_is_a_fault() -> None:
    with pytest.raises(InternalError, match="stands still"):
        Flows(cluster()).until(math.inf)


PARTS = st.builds(
    part,
    cpu=st.floats(0, 5),
    kept=st.floats(0, 3),
    weight=st.floats(0.2, 5),
    dirtied=st.floats(0, 200 * MB),
    read=st.dictionaries(st.sampled_from(["one", "two"]), st.floats(1, 50 * MB)),
)


@given(st.lists(PARTS, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_nobody_gets_more_than_there_is(parts: list[AttemptPart]) -> None:
    shared = cluster(cores=2, disks={"one": DISK, "two": HostDisk(20 * MB, 5 * MB)})
    found = ends(shared, *parts)
    for each, end in zip(parts, found, strict=True):
        assert end >= each.kept + each.cpu - 1e-5
    last = max(found) + 1e-4
    assert sum(each.cpu for each in parts) <= 2 * last
    for host, disk in shared.disks.items():
        written = sum(each.written("one").get(host, 0.0) for each in parts)
        read = sum(each.read.get(host, 0.0) for each in parts)
        assert written + read <= disk.rate * last + disk.room + MB


PARTS = st.builds(
    lambda kept, cpu, cores, weight: part(kept=kept, cpu=cpu, cores=cores, weight=weight),
    st.floats(0, 5),
    st.floats(0.01, 10),
    st.floats(0.5, 4),
    st.floats(0.25, 4),
)


@given(parts=st.lists(PARTS, min_size=1, max_size=12), cores=st.floats(0.1, 16))
def test_a_busy_cpu_is_used_as_a_whole(parts: list[AttemptPart], cores: float) -> None:
    flows = [PartFlow(one, "one", 0.0) for one in parts]

    def used(speed: float) -> float:
        return sum(flow.speed(speed) * flow.part.cpu for flow in flows)

    slowed = slowed_to(flows, cores)
    if used(math.inf) <= cores:
        assert slowed == math.inf
    else:
        assert used(slowed) == pytest.approx(cores, rel=1e-6)


def test_what_comes_from_others_and_what_is_copied_goes_over_links() -> None:
    hdfs = {"one": 10 * MB, "two": 10 * MB, "three": 10 * MB}
    copied = part(hdfs=hdfs, came={"one": 5 * MB, "two": 7 * MB})
    assert copied.received("one") == {"one": 7 * MB, "two": 10 * MB, "three": 10 * MB}
    # one sends a copy to the next DataNode, and that one to the last
    assert copied.sent("one") == {"one": 10 * MB, "two": 12 * MB, "three": 5 * MB}
    away = part(hdfs={"two": 10 * MB})
    assert (away.sent("one"), away.received("one")) == ({"one": 10 * MB}, {"two": 10 * MB})
    at_home = part(hdfs={"one": 10 * MB}, came={"one": 5 * MB})
    assert (at_home.sent("one"), at_home.received("one")) == ({}, {})


def test_links_are_shared_in_each_direction() -> None:
    linked = msgspec.structs.replace(cluster(cores=8), link=10 * MB)
    fetching = part(cpu=1.0, came={"two": 20 * MB})
    assert ends(linked, fetching, fetching) == [4.0, 4.0]
    # at home nothing goes over a link, and without links nothing waits for them
    assert ends(linked, fetching, host="two") == [1.0]
    assert ends(cluster(cores=8), fetching, fetching) == [1.0, 1.0]
    # what one sends does not slow down what it receives
    copying = part(cpu=1.0, hdfs={"two": 20 * MB})
    assert ends(linked, fetching, copying) == [2.0, 2.0]
