from __future__ import annotations

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import changed, only_of
from iostrata.replay.hardware import even_disks, nodes
from iostrata.replay.jobs import HostDisk, RecordedJobs, ReplayedJob
from iostrata.replay.layout import hosts_of, with_nodes, with_splits
from iostrata.replay.schedule import replay
from iostrata.replay.settings import even_reduces, fewer_maps, setting, split_size
from iostrata.replay.tests.twins import MB, recording, sort

MIB = 1 << 20


def reading(size: int = 128 * MIB) -> RecordedJobs:
    """Six maps that read `size` each."""
    made = sort()
    (job,) = made.jobs
    attempts = tuple(
        msgspec.structs.replace(one, read=size if one.role == "map" else 0) for one in job.attempts
    )
    return msgspec.structs.replace(made, jobs=(msgspec.structs.replace(job, attempts=attempts),))


def totals(recorded: RecordedJobs) -> tuple[float, float]:
    """Core seconds of all but the start of attempts, and bytes that disks write."""
    (job,) = recorded.jobs
    parts = [(one, part) for one in job.attempts for part in one.parts]
    cpu = sum(part.cpu for _, part in parts if part.name != "start")
    return cpu, sum(sum(part.written(one.host).values()) for one, part in parts)


def test_as_many_nodes_are_the_same_cluster() -> None:
    assert with_nodes(sort(), 2) == sort()


def test_more_nodes_share_the_work() -> None:
    more = with_nodes(sort(), 4)
    assert hosts_of(more) == ["node 3", "node 4", "one", "two"]
    assert totals(more) == pytest.approx(totals(sort()))
    assert more.cluster.containers == 8
    assert more.cluster.disks["node 3"] == sort().cluster.disks["one"]
    # these nodes are on one machine, as those of the run
    assert more.cluster.cores == sort().cluster.cores
    assert replay(more).wall < replay(sort()).wall
    reduces = [one for one in more.jobs[0].attempts if one.role == "reduce"]
    for one in reduces:  # the own copy stays at home, the other one is anywhere else
        hdfs = one.parts[-1].hdfs
        assert hdfs[one.host] == 90 * MB
        assert [round(hdfs[name] / MB) for name in hdfs if name != one.host] == [30, 30, 30]


def test_machines_of_their_own_come_with_nodes() -> None:
    apart = msgspec.structs.replace(
        sort().cluster, machines={"one": "one", "two": "two"}, cores={"one": 4.0, "two": 4.0}
    )
    more = with_nodes(msgspec.structs.replace(sort(), cluster=apart), 3)
    assert more.cluster.machines == {"one": "one", "two": "two", "node 3": "node 3"}
    assert more.cluster.cores == {"one": 4.0, "two": 4.0, "node 3": 4.0}


def test_one_node_keeps_one_copy() -> None:
    alone = with_nodes(sort(), 1)
    assert hosts_of(alone) == ["one"]
    assert alone.copies == 1
    reduces = [one for one in alone.jobs[0].attempts if one.role == "reduce"]
    assert [one.parts[-1].hdfs for one in reduces] == [{"one": 90 * MB}] * 2
    assert replay(alone).wall > replay(sort()).wall


def test_maps_are_put_together() -> None:
    fewer = with_splits(reading(), 256 * MIB)
    assert [one.task for one in fewer.jobs[0].attempts] == ["m0", "m2", "m4", "r0", "r1"]
    assert totals(fewer) == pytest.approx(totals(reading()))
    assert fewer.jobs[0].attempts[0].read == 256 * MIB
    names = [part.name for part in fewer.jobs[0].attempts[0].parts]
    assert names == ["start", "map", "map", "sort", "sort"]
    assert [one.after for one in fewer.jobs[0].attempts if one.role == "reduce"] == [1, 1]


def test_maps_are_cut() -> None:
    more = with_splits(reading(), 64 * MIB)
    assert [one.task for one in more.jobs[0].attempts][:3] == ["m0", "m0 part 2", "m1"]
    assert totals(more) == pytest.approx(totals(reading()))
    assert more.jobs[0].maps == 12
    assert [one.after for one in more.jobs[0].attempts if one.role == "reduce"] == [4, 4]
    assert len({one.task for one in replay(more).attempts}) == 14
    assert with_splits(reading(), 150 * MIB) == reading()


def test_several_maps_become_one() -> None:
    fewer = changed(sort(), [fewer_maps(4)])
    assert [one.task for one in fewer.jobs[0].attempts] == ["m0", "m4", "r0", "r1"]
    assert totals(fewer) == pytest.approx(totals(sort()))
    assert [one.after for one in fewer.jobs[0].attempts if one.role == "reduce"] == [1, 1]


def test_reduces_share_their_work() -> None:
    made = sort(disk=200 * MB)
    more = changed(made, [setting("mapreduce.job.reduces=4")])
    reduces = [one for one in more.jobs[0].attempts if one.role == "reduce"]
    assert [(one.task, one.host, one.lag) for one in reduces] == [
        ("r0", "one", 0.6),
        ("r1", "two", 0.6),
        ("r0 part 2", "two", 0.4),
        ("r1 part 2", "one", 0.4),
    ]
    # what they do is shared out; that they start, and gather beside the maps, is not
    cpu, written = totals(made)
    assert totals(more) == pytest.approx((cpu + 2 * 0.3, written))
    fewer = changed(more, [setting("mapreduce.job.reduces=1")])
    (one,) = (one for one in fewer.jobs[0].attempts if one.role == "reduce")
    assert [part.cpu for part in one.parts] == pytest.approx([1.0, 0.3, 1.6, 3.0])
    assert replay(made).wall < replay(fewer).wall


def skewed() -> RecordedJobs:
    """The second reduce has three times as much to do as the first."""
    made = sort()
    (job,) = made.jobs
    *others, first, second = recording(made).jobs[0].attempts
    more = msgspec.structs.replace(second, parts=tuple(part.scaled(3) for part in first.parts))
    job = msgspec.structs.replace(job, attempts=(*others, first, more))
    return msgspec.structs.replace(made, jobs=(job,))


def test_reduces_are_made_even() -> None:
    even = changed(skewed(), [even_reduces()])
    first, second = (one for one in even.jobs[0].attempts if one.role == "reduce")
    lengths = [[part.length for part in one.parts if part.name in ("shuffle", "reduce")]
               for one in (first, second)]  # fmt: skip
    assert lengths[0] == pytest.approx(lengths[1])
    assert totals(even) == pytest.approx(totals(skewed()), rel=0.05)
    assert replay(even).wall < replay(skewed()).wall


def test_a_slow_disk_becomes_as_fast_as_the_usual_one() -> None:
    cluster = sort().cluster
    disks = {"one": HostDisk(5 * MB, 16 * MB), "two": HostDisk(20 * MB, 16 * MB)}
    slow = msgspec.structs.replace(sort(), cluster=msgspec.structs.replace(cluster, disks=disks))
    even = changed(slow, [even_disks()])
    assert [disk.rate for disk in even.cluster.disks.values()] == [12.5 * MB, 20 * MB]
    assert replay(even).wall < replay(slow).wall
    alone = msgspec.structs.replace(cluster, disks={"one": HostDisk(MB, MB)})
    with pytest.raises(UserError, match="fewer than two hosts"):
        changed(msgspec.structs.replace(sort(), cluster=alone), [even_disks()])


def test_a_change_of_some_jobs_leaves_the_others() -> None:
    made = sort()
    other = msgspec.structs.replace(made.jobs[0], name="job_2")
    both = msgspec.structs.replace(made, jobs=(*made.jobs, other))
    first, second = changed(both, [only_of(["job_2"], fewer_maps(2))]).jobs
    assert (first.maps, second.maps) == (6, 3)
    assert [job.maps for job in changed(both, [only_of([], fewer_maps(2))]).jobs] == [3, 3]


def test_what_has_no_maps_or_reduces_is_one_line() -> None:
    made = sort()
    bare = msgspec.structs.replace(made, jobs=(ReplayedJob("job", 0.0, ()),))
    asked = {"no maps": fewer_maps(2), "no reduces": even_reduces()}
    asked["the run has no reduces"] = setting("mapreduce.job.reduces=2")
    for line, change in asked.items():
        with pytest.raises(UserError, match=line):
            changed(bare, [change])


def test_what_is_no_size_is_one_line() -> None:
    for text in ("", "big", "0", "-1"):
        with pytest.raises(UserError, match=r"--block-size .* is no size"):
            split_size("--block-size", text)
    with pytest.raises(UserError, match=r"split\.maxsize 'x' is no size"):
        setting("mapreduce.input.fileinputformat.split.maxsize=x")
    with pytest.raises(UserError, match="read nothing from HDFS"):
        split_size("--block-size", "1MiB").apply(sort())
    in_bytes = setting("mapreduce.input.fileinputformat.split.maxsize=67108864")
    assert in_bytes.says == "maps of 64.0 MiB"
    assert nodes(1).says == "1 node"
