from __future__ import annotations

import msgspec
import pytest

from iostrata.errors import UserError
from iostrata.replay.alternative import changed
from iostrata.replay.jobs import MERGE
from iostrata.replay.settings import EXECUTORS, SORT_BUFFER, executors, replication, setting
from iostrata.replay.tests.twins import MB, part, sort


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


def test_the_first_copy_stays_where_it_is() -> None:
    (job,) = changed(sort(), [replication("1")]).jobs
    reduces = [one for one in job.attempts if one.role == "reduce"]
    assert [one.parts[-1].hdfs for one in reduces] == [{"one": 90 * MB}, {"two": 90 * MB}]
    # and back again: from one copy nothing says where others would go, so they are spread
    single = msgspec.structs.replace(sort(), jobs=(job,), copies=1.0)
    (again,) = changed(single, [replication("2")]).jobs
    both = {"one": 90 * MB, "two": 90 * MB}
    assert [one.parts[-1].hdfs for one in again.attempts if one.role == "reduce"] == [both, both]


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
