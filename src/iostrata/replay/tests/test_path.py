from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iostrata.replay.alternative import changed
from iostrata.replay.hardware import containers, faster_disks
from iostrata.replay.jobs import JobAttempt, RecordedJobs, ReplayedJob
from iostrata.replay.path import AFTER, BEFORE, WAITS, by_name, critical_path
from iostrata.replay.schedule import replay
from iostrata.replay.tests.twins import attempt, cluster, part, sort


def run_of(*jobs: ReplayedJob, slots: int = 2) -> RecordedJobs:
    return RecordedJobs(0.0, 0.5, jobs, cluster(cores=8, containers=slots), None)


def job_of(*attempts: JobAttempt, lead: float = 1.0) -> ReplayedJob:
    return msgspec.convert({"name": "job", "lead": lead, "attempts": attempts}, ReplayedJob)


def path(jobs: RecordedJobs) -> list[tuple[str, str, float]]:
    found = critical_path(jobs, replay(jobs))
    return [(one.name, one.task, round(one.length, 4)) for one in found]


def a_map(task: str, seconds: float, **more: object) -> JobAttempt:
    return attempt(task, "map", "one", part("start", cpu=0.5), part(cpu=seconds), **more)


def test_a_map_that_waited_for_a_container_leads_to_the_one_that_had_it() -> None:
    maps = [a_map("m0", 3.0), a_map("m1", 1.0), a_map("m2", 2.0, lag=0.25)]
    assert path(run_of(job_of(*maps))) == [
        (BEFORE, "", 1.0),
        ("start", "m1", 0.5),
        ("map", "m1", 1.0),
        (WAITS, "", 0.25),
        ("start", "m2", 0.5),
        ("map", "m2", 2.0),
        (AFTER, "", 0.5),
    ]


def test_a_map_that_found_a_free_container_waited_for_nobody() -> None:
    # m0 ends before m1 begins, which had a container all along
    maps = [a_map("m0", 0.25), a_map("m1", 2.0, lag=2.0)]
    assert path(run_of(job_of(*maps))) == [
        (BEFORE, "", 1.0),
        (WAITS, "", 2.0),
        ("start", "m1", 0.5),
        ("map", "m1", 2.0),
        (AFTER, "", 0.5),
    ]


REST = (part("shuffle", cpu=1.0), part("reduce", cpu=2.0))


@pytest.mark.parametrize("gathers", [0.25, 4.0])
def test_a_reduce_leads_to_the_last_map_or_through_what_it_gathered(gathers: float) -> None:
    maps = [a_map("m0", 0.5), a_map("m1", 2.5)]
    gather = part("gather", cpu=gathers, gathers=True)
    reduce = attempt("r", "reduce", "two", part("start", cpu=0.5), gather, *REST, after=1, lag=0.25)
    found = path(run_of(job_of(*maps, reduce)))  # with the container of m0
    end = [("shuffle", "r", 1.0), ("reduce", "r", 2.0), (AFTER, "", 0.5)]
    if gathers < 1:  # it is ready at 3.0 s, the last map at 4.0 s
        assert found == [(BEFORE, "", 1.0), ("start", "m1", 0.5), ("map", "m1", 2.5), *end]
        return
    by_itself = [(WAITS, "", 0.25), ("start", "r", 0.5), ("shuffle", "r", 4.0)]
    first = [(BEFORE, "", 1.0), ("start", "m0", 0.5), ("map", "m0", 0.5)]
    assert found == [*first, *by_itself, *end]


def test_a_job_leads_to_the_one_before() -> None:
    jobs = run_of(job_of(a_map("a", 1.0)), job_of(a_map("b", 2.0, lag=0.25), lead=3.0))
    assert path(jobs) == [
        (BEFORE, "", 1.0),
        ("start", "a", 0.5),
        ("map", "a", 1.0),
        (BEFORE, "", 3.25),
        ("start", "b", 0.5),
        ("map", "b", 2.0),
        (AFTER, "", 0.5),
    ]


def test_the_path_goes_through_jobs_that_followed_each_other() -> None:
    one, beside = job_of(a_map("a", 1.0)), job_of(a_map("b", 1.5), lead=0.5)
    beside = msgspec.structs.replace(beside, back=2)
    last = msgspec.structs.replace(job_of(a_map("c", 2.0), lead=2.0), back=2)
    assert path(run_of(one, beside, last)) == [
        (BEFORE, "", 1.0),
        ("start", "a", 0.5),
        ("map", "a", 1.0),
        (BEFORE, "", 2.0),
        ("start", "c", 0.5),
        ("map", "c", 2.0),
        (AFTER, "", 0.5),
    ]


@settings(max_examples=25, deadline=None)
@given(
    maps=st.integers(1, 9),
    slots=st.integers(1, 6),
    factor=st.sampled_from(["0.5x", "1x", "4x"]),
    tail=st.floats(0, 2),
)
def test_stretches_follow_each_other_and_add_up_to_the_wall(
    maps: int, slots: int, factor: str, tail: float
) -> None:
    jobs = changed(sort(maps=maps), [faster_disks(factor), containers(slots)])
    again = [attempt(f"n{one.task}", one.role, one.host, *one.parts, after=one.after, lag=one.lag)
             for one in jobs.attempts]  # fmt: skip
    twice = (*jobs.jobs, ReplayedJob("job_2", 1.5, tuple(again)))
    jobs = msgspec.structs.replace(jobs, jobs=twice, tail=tail)
    done = replay(jobs)
    found = critical_path(jobs, done)
    assert (found[0].since, found[-1].until) == (0.0, done.wall)
    assert all(one.until == two.since for one, two in pairwise(found))
    assert all(one.length > 0 for one in found)
    assert sum(by_name(found).values()) == pytest.approx(done.wall, abs=1e-9)
