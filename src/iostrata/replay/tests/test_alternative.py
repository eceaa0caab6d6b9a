from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import Alternative, changed
from iostrata.replay.hardware import cores, faster_disks, network, storages
from iostrata.replay.jobs import MERGE
from iostrata.replay.schedule import replay
from iostrata.replay.settings import (
    EXECUTORS,
    SORT_BUFFER,
    executors,
    limited,
    replication,
    setting,
    slow_start,
)
from iostrata.replay.tests.twins import MB, part, sort

NO_NUMBER: dict[str, Callable[[str], Alternative]] = {
    "--faster-disk": faster_disks,
    "dfs.replication": replication,
    "mapreduce.job.reduce.slowstart.completedmaps": slow_start,
    "--network": network,
    "mapreduce.job.running.map.limit": partial(limited, "mapreduce.job.running.map.limit"),
    EXECUTORS: partial(executors, EXECUTORS),
}


@pytest.mark.parametrize("name", NO_NUMBER)
@pytest.mark.parametrize("text", ["", "two", "-1", "nan", "inf"])
def test_what_is_no_number_is_one_line(name: str, text: str) -> None:
    with pytest.raises(UserError, match=name):
        NO_NUMBER[name](text)


def test_what_cannot_be_is_one_line() -> None:
    with pytest.raises(UserError, match="cannot be replayed"):
        setting("mapreduce.map.output.compress=true")
    with pytest.raises(UserError, match="is more than 1"):
        setting("mapreduce.job.reduce.slowstart.completedmaps=2")
    with pytest.raises(UserError, match="no whole number"):
        setting("mapreduce.job.running.map.limit=1.5")
    with pytest.raises(UserError, match="3 copies need as many DataNodes; 2 took part"):
        changed(sort(), [replication("3")])
    with pytest.raises(UserError, match="no executors of Spark"):
        changed(sort(), [executors(EXECUTORS, "3")])
    nothing = msgspec.structs.replace(sort(), copies=None)
    with pytest.raises(UserError, match="wrote nothing to HDFS"):
        changed(nothing, [replication("2")])
    cluster = msgspec.structs.replace(sort().cluster, disks={})
    with pytest.raises(UserError, match="no disk held this run back"):
        changed(msgspec.structs.replace(sort(), cluster=cluster), [faster_disks("2x")])


def test_the_first_copy_stays_where_it_is() -> None:
    (job,) = changed(sort(), [replication("1")]).jobs
    reduces = [one for one in job.attempts if one.role == "reduce"]
    assert [one.parts[-1].hdfs for one in reduces] == [{"one": 90 * MB}, {"two": 90 * MB}]
    # and back again: from one copy nothing says where others would go, so they are spread
    single = msgspec.structs.replace(sort(), jobs=(job,), copies=1.0)
    (again,) = changed(single, [replication("2")]).jobs
    both = {"one": 90 * MB, "two": 90 * MB}
    assert [one.parts[-1].hdfs for one in again.attempts if one.role == "reduce"] == [both, both]


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


def test_maps_with_room_for_their_output_do_not_merge() -> None:
    (job,) = sort().jobs
    merging = tuple(
        msgspec.structs.replace(one, spills=3, parts=(*one.parts, part(MERGE, cpu=1.0)))
        if one.task == "m1" else one for one in job.attempts
    )  # fmt: skip
    made = msgspec.structs.replace(sort(), jobs=(msgspec.structs.replace(job, attempts=merging),))
    known = msgspec.structs.replace(made, settings={job.name: {SORT_BUFFER: "10"}})
    # three spills of 10 MB
    assert changed(known, [setting(f"{SORT_BUFFER}=29")]) == known
    found = changed(known, [setting(f"{SORT_BUFFER}=30")]).jobs[0].attempts[1]
    assert ([one.name for one in found.parts], found.spills) == (["start", "map", "sort"], 1)
    with pytest.raises(UserError, match=r"sort\.mb 9 is less than the 10 of the run"):
        changed(known, [setting(f"{SORT_BUFFER}=9")])
    with pytest.raises(UserError, match="no map of the run spilled more than once"):
        changed(sort(), [setting(f"{SORT_BUFFER}=200")])


def test_a_slow_network_takes_longer() -> None:
    (job,) = sort().jobs
    alone = tuple(one for one in job.attempts if one.host == "one" and one.role == "map")
    of_one = msgspec.structs.replace(sort(), jobs=(msgspec.structs.replace(job, attempts=alone),))
    with pytest.raises(UserError, match="the run was on one host"):
        changed(of_one, [network("1Gbit")])
    copied = sort(disk=200 * MB)
    assert replay(changed(copied, [network("1Gbit")])).wall == replay(copied).wall
    assert replay(changed(copied, [network("10MB/s")])).wall > replay(copied).wall + 5


def test_changes_come_one_after_the_other() -> None:
    found = changed(sort(), [faster_disks("2x"), cores(16)])
    assert found.cluster.cores == {"machine": 16.0}
    assert [disk.rate for disk in found.cluster.disks.values()] == [40 * MB, 40 * MB]
