from __future__ import annotations

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.changes import nodes, setting, split_size
from iostrata.replay.jobs import RecordedJobs
from iostrata.replay.layout import hosts_of, with_nodes, with_splits
from iostrata.replay.schedule import replay
from iostrata.replay.tests.twins import MB, sort

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
