from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.replay.hardware import containers, faster_disks
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.tests.made import (
    EVENTS,
    JOB,
    MAP,
    MB,
    PROCESSES,
    REDUCE,
    SYSTEM,
    at,
    attempt,
    opened,
)
from iostrata.replay.whatif import what_if
from iostrata.store.tests.made import SECOND, START, device, process, row_of_call, row_of_sum


def test_a_job_has_the_parts_of_its_phases(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        found = recorded_jobs(run)
    (job,) = found.jobs
    assert (found.wall, found.tail, job.name, job.lead) == (10, 1, JOB, 1)
    mapped, reduced = job.attempts
    assert [(part.name, part.start, part.length) for part in mapped.parts] == [
        ("start", 1, 1), ("map", 2, 2), ("sort", 4, 1),
    ]  # fmt: skip
    # the last map ended at 5: until then the reduce gathers
    assert [(part.name, part.start, part.length) for part in reduced.parts] == [
        ("start", 4, 0.5), ("gather", 4.5, 0.5), ("shuffle", 5, 2), ("reduce", 7, 2),
    ]  # fmt: skip
    assert [part.gathers for part in reduced.parts] == [False, True, False, False]
    assert (reduced.after, reduced.lag) == (0, 3)


def test_what_daemons_do_is_that_of_attempts(tmp_path: Path) -> None:
    with opened(tmp_path) as run:
        found = recorded_jobs(run)
    mapped, reduced = found.jobs[0].attempts
    # one core is busy: where the map is alone, twice its own half of a core is for it
    assert mapped.parts[1].cpu == pytest.approx(2.0)
    assert sum(part.cpu for one in (mapped, reduced) for part in one.parts) == pytest.approx(8.5)
    assert [part.dirtied for part in mapped.parts] == pytest.approx([2 * MB, 4 * MB, 2 * MB])
    # DataNodes fetched a fifth of what they sent to the map; they wrote each byte twice
    assert mapped.parts[1].read == pytest.approx({"node": 4 * MB})
    assert [part.hdfs for part in reduced.parts] == [{}, {}, {}, {"node": 40 * MB}]
    assert mapped.parts[1].came == {"node": 20 * MB}
    assert found.copies == 2
    assert found.cluster.machines == {"node": "node"}
    assert 1.9 < found.cluster.cores["node"] <= 2
    assert found.cluster.disks["node"].rate == pytest.approx(10 * MB)
    assert found.cluster.containers == 2
    assert found.cluster.room == {"node": 2}


def test_a_map_that_spills_several_times_merges_at_the_end(tmp_path: Path) -> None:
    spilled = row_of_sum("task", "spill", task=MAP, count=2, span=21, start=START, proc=1)
    merged = row_of_call("task", "merge", "/out", task=MAP, role="map", phase="sort", proc=1,
                         job=JOB, start=at(4.25), dur=SECOND // 2, span=22)  # fmt: skip
    with opened(tmp_path / "a", events=[*EVENTS, spilled, merged]) as run:
        mapped = recorded_jobs(run).attempts[0]
    assert [(part.name, part.start, part.length) for part in mapped.parts] == [
        ("start", 1, 1), ("map", 2, 2), ("sort", 4, 0.25), ("merge", 4.25, 0.75),
    ]  # fmt: skip
    assert mapped.spills == 2
    # a single spill is only renamed
    with opened(tmp_path / "b", events=[*EVENTS, merged]) as run:
        assert [part.name for part in recorded_jobs(run).attempts[0].parts][-1] == "sort"


def test_a_shuffle_comes_from_where_maps_ran(tmp_path: Path) -> None:
    away = [attempt("map", 4, "attempt_1_0001_m_000001_0", 1, 5, host="other")]
    copied = row_of_sum("task", "copy", task=REDUCE, bytes=30 * MB, span=20, start=START, proc=2)
    system = [*SYSTEM, *({**row, "host": "other"} for row in SYSTEM)]
    tables = {"processes": [*PROCESSES, *away], "events": [*EVENTS, copied], "system": system}
    with opened(tmp_path, **tables) as run:
        (*_, reduced) = recorded_jobs(run).attempts
    assert [part.came for part in reduced.parts] == [
        {},
        {},
        {"node": 15 * MB, "other": 15 * MB},
        {},
    ]


def test_jobs_follow_those_that_had_ended_before(tmp_path: Path) -> None:
    later = {"beside": (8, 9.5), "behind": (9.25, 9.75), "last": (9.8, 9.9)}
    more = [
        attempt("map", 4 + place, f"attempt_1_000{place}_m_000000_0", *times, job=name)
        for place, (name, times) in enumerate(later.items())
    ]
    with opened(tmp_path, processes=[*PROCESSES, *more]) as run:
        found = recorded_jobs(run)
    assert [(job.name, job.back, round(job.lead, 3)) for job in found.jobs] == [
        (JOB, 1, 1), ("beside", 2, 8), ("behind", 2, 0.25), ("last", 1, 0.05),
    ]  # fmt: skip
    assert found.cluster.containers == 2
    assert [one.lag for job in found.jobs for one in job.attempts] == [0, 3, 0, 0, 0]
    assert found.tail == pytest.approx(0.1)


def test_its_replay_takes_as_long_as_it_took(tmp_path: Path) -> None:
    steps: list[str] = []
    with opened(tmp_path) as run:
        found = what_if(run, [containers(1)], lambda step, _=0.0: steps.append(step))
    assert abs(found.off) < 0.03
    assert found.predicted > found.recorded == 10 * SECOND
    assert found.low <= found.predicted <= found.high
    assert [(one.role, one.attempts) for one in found.roles] == [("map", 1), ("reduce", 1)]
    assert list(dict.fromkeys(steps)) == ["jobs", "fit", "replay"]


def test_disks_that_held_nobody_back_are_no_limit(tmp_path: Path) -> None:
    calm = [{**row, "io_pressure": 0} for row in SYSTEM]
    with opened(tmp_path, system=calm) as run, pytest.raises(UserError, match="no disk held"):
        what_if(run, [faster_disks("2x")])


def test_a_disk_that_has_bursts_is_as_fast_as_one_at_its_limit(tmp_path: Path) -> None:
    moved = {"node": [20] * 10, "bursts": [8, 17, 8, 2, 16, 0, 16, 0, 0, 0], "slow": [5] * 10}
    devices = [
        device("sda", second, written=amount * MB, host=host)
        for host, amounts in moved.items()
        for second, amount in enumerate(amounts)
    ]
    maps = [
        attempt("map", 4 + place, f"attempt_1_0001_m_00000{place + 1}_0", 1, 5, host=host)
        for place, host in enumerate(("bursts", "slow"))
    ]
    with opened(tmp_path, processes=[*PROCESSES, *maps], devices=devices) as run:
        disks = recorded_jobs(run).cluster.disks
    rates = {host: round(disk.rate / MB, 3) for host, disk in disks.items()}
    assert rates == {"node": 20, "bursts": 20, "slow": 5}


UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "no tasks": ({"processes": [process("client", 1, proc=1)]}, "has no attempts of MapReduce"),
    "no usage": ({"usages": None}, "no history of its machines or processes"),
    "no machine": ({"system": None}, "no history of its machines or processes"),
    "not ended": ({"end": 0}, "has not ended"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_run_that_lacks_something_is_one_line(tmp_path: Path, name: str) -> None:
    tables, line = UNUSABLE[name]
    with opened(tmp_path, **tables) as run, pytest.raises(UserError, match=line):
        recorded_jobs(run)


def test_a_host_without_a_history_of_its_own(tmp_path: Path) -> None:
    away = [{**row, "host": "node-1"} for row in PROCESSES]
    with opened(tmp_path, processes=away) as run:
        assert recorded_jobs(run).cluster.machines["node-1"] == "node"
    two = [*SYSTEM, *({**row, "host": "other"} for row in SYSTEM)]
    with (
        opened(tmp_path / "two", processes=away, system=two) as run,
        pytest.raises(UserError, match="host node-1 has no history of its CPU"),
    ):
        recorded_jobs(run)
