from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.replay.changes import containers, faster_disks
from iostrata.replay.recorded import recorded_jobs
from iostrata.replay.tests.made import JOB, MB, PROCESSES, SYSTEM, attempt, opened
from iostrata.replay.whatif import what_if
from iostrata.store.tests.made import SECOND, process


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
    assert found.copies == 2
    assert found.cluster.machines == {"node": "node"}
    assert 1.9 < found.cluster.cores["node"] <= 2
    assert found.cluster.disks["node"].rate == pytest.approx(10 * MB)
    assert found.cluster.containers == 2


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


SECOND_JOB = attempt("map", 4, "attempt_1_0002_m_000000_0", 8, 9.5, job="job_1_0002")
UNUSABLE: dict[str, tuple[dict[str, Any], str]] = {
    "no tasks": ({"processes": [process("client", 1, proc=1)]}, "has no attempts of MapReduce"),
    "jobs at once": ({"processes": [*PROCESSES, SECOND_JOB]}, "ran at the same time"),
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
