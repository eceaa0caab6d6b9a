from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import Alternative, changed
from iostrata.replay.hardware import cores, faster_disks, network
from iostrata.replay.settings import EXECUTORS, executors, limited, replication, slow_start
from iostrata.replay.tests.twins import MB, sort

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


def test_changes_come_one_after_the_other() -> None:
    found = changed(sort(), [faster_disks("2x"), cores(16)])
    assert found.cluster.cores == {"machine": 16.0}
    assert [disk.rate for disk in found.cluster.disks.values()] == [40 * MB, 40 * MB]
