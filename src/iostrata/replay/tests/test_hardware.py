from __future__ import annotations

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import changed
from iostrata.replay.hardware import faster_disks, network, storages
from iostrata.replay.schedule import replay
from iostrata.replay.tests.twins import MB, sort


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("10Gbit", 1.25e9),
        ("100 Mbit/s", 12.5e6),
        ("20MB/s", 20e6),
        ("1.5GiB/s", 1.5e9),
        ("8bit", 1),
    ],
)
def test_rates_of_networks(text: str, rate: float) -> None:
    assert changed(sort(), [network(text)]).cluster.link == pytest.approx(rate)


def test_another_storage_is_as_much_faster_as_it_is_at_what_the_run_does() -> None:
    asked = []

    def times(operation: str, clients: int) -> float:
        asked.append((operation, clients))
        return {"read": 0.5, "write": 4.0}[operation]

    # two attempts of four at once on each host; only writes go to disks
    found = changed(sort(), [storages("ssd", "disk", times)])
    assert [disk.rate for disk in found.cluster.disks.values()] == [80 * MB, 80 * MB]
    assert asked == [("write", 2)]
    # as many bytes are read: each second of reads becomes two, each of writes a quarter
    (job,) = sort().jobs
    written = sum(sum(part.hdfs.values()) + part.dirtied for one in job.attempts
                  for part in one.parts)  # fmt: skip
    first = job.attempts[0]
    reading = msgspec.structs.replace(first.parts[0], read={"one": written})
    first = msgspec.structs.replace(first, parts=(reading, *first.parts[1:]))
    job = msgspec.structs.replace(job, attempts=(first, *job.attempts[1:]))
    mixed = msgspec.structs.replace(sort(), jobs=(job,))
    found = changed(mixed, [storages("ssd", "disk", times)])
    rates = [disk.rate for disk in found.cluster.disks.values()]
    assert rates == pytest.approx([20 * MB * 2 / (2 + 0.25)] * 2)


def test_a_slow_network_takes_longer() -> None:
    (job,) = sort().jobs
    alone = tuple(one for one in job.attempts if one.host == "one" and one.role == "map")
    of_one = msgspec.structs.replace(sort(), jobs=(msgspec.structs.replace(job, attempts=alone),))
    with pytest.raises(UserError, match="the run was on one host"):
        changed(of_one, [network("1Gbit")])
    copied = sort(disk=200 * MB)
    assert replay(changed(copied, [network("1Gbit")])).wall == replay(copied).wall
    assert replay(changed(copied, [network("10MB/s")])).wall > replay(copied).wall + 5


def test_disks_that_held_nobody_back_are_not_known() -> None:
    cluster = msgspec.structs.replace(sort().cluster, disks={})
    with pytest.raises(UserError, match="no disk held this run back"):
        changed(msgspec.structs.replace(sort(), cluster=cluster), [faster_disks("2x")])
