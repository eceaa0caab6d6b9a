from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.changes import (
    EXECUTORS,
    Alternative,
    changed,
    cores,
    executors,
    faster_disks,
    limited,
    replication,
    setting,
    slow_start,
)
from iostrata.replay.tests.twins import MB, sort

NO_NUMBER: dict[str, Callable[[str], Alternative]] = {
    "--faster-disk": faster_disks,
    "dfs.replication": replication,
    "mapreduce.job.reduce.slowstart.completedmaps": slow_start,
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


def test_changes_come_one_after_the_other() -> None:
    found = changed(sort(), [faster_disks("2x"), cores(16)])
    assert found.cluster.cores == {"machine": 16.0}
    assert [disk.rate for disk in found.cluster.disks.values()] == [40 * MB, 40 * MB]
