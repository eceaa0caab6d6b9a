from __future__ import annotations

import msgspec
import pytest

from iostrata.replay.alternative import changed
from iostrata.replay.fitting import fits
from iostrata.replay.hardware import containers, faster_disks
from iostrata.replay.jobs import RecordedJobs, ReplayedJob
from iostrata.replay.schedule import replay, with_usual_hosts
from iostrata.replay.settings import SLOW_START, limited, setting
from iostrata.replay.tests.twins import MB, attempt, cluster, part, recording, sort


def run_of(
    *attempts: object, lead: float = 1.0, slots: int = 2, slow_start: int = 0
) -> RecordedJobs:
    given = {"name": "job", "lead": lead, "attempts": attempts, "slow_start": slow_start}
    job = msgspec.convert(given, ReplayedJob)
    return RecordedJobs(0.0, 0.5, (job,), cluster(cores=8, containers=slots), None)


def times(jobs: RecordedJobs) -> dict[str, tuple[float, float]]:
    return {one.task: (round(one.start, 6), round(one.end, 6)) for one in replay(jobs).attempts}


def test_attempts_wait_for_containers_and_what_they_waited_beside() -> None:
    maps = [attempt(f"m{n}", "map", "one", part(cpu=2.0), lag=0.5) for n in range(3)]
    assert times(run_of(*maps)) == {"m0": (1.5, 3.5), "m1": (1.5, 3.5), "m2": (4.0, 6.0)}
    assert replay(run_of(*maps)).wall == 6.5
    assert times(run_of(*maps, slots=3))["m2"] == (1.5, 3.5)


def test_a_reduce_goes_where_most_room_is_if_that_is_elsewhere_now() -> None:
    long, short = (attempt(f"m{n}", "map", host, part(cpu=cpu)) for n, host, cpu in
                   ((0, "two", 6.0), (1, "one", 2.0)))  # fmt: skip
    rest = (part("gather", gathers=True), part("shuffle", cpu=1.0, dirtied=MB))
    reduces = [attempt(f"r{n}", "reduce", "one", *rest, after=1) for n in range(2)]
    made = run_of(long, short, *reduces, slots=3, slow_start=1)
    room = msgspec.structs.replace(made.cluster, room={"one": 2, "two": 1})
    made = with_usual_hosts(msgspec.structs.replace(made, cluster=room))

    def hosts(jobs: RecordedJobs) -> list[str]:
        return [one.host for one in sorted(replay(jobs).attempts, key=lambda one: one.task)]

    # the other host runs a map, and has no room for more
    assert [one.usual for one in made.attempts] == ["", "", "one", "one"]
    assert hosts(made) == ["two", "one", "one", "one"]
    # when both maps are done, each of the hosts has room
    late = changed(made, [setting(f"{SLOW_START}=1.0")])
    assert hosts(late) == ["two", "one", "one", "two"]
    # an ApplicationMaster needs room, too
    (job,) = late.jobs
    mastered = msgspec.structs.replace(late, jobs=(msgspec.structs.replace(job, master="two"),))
    assert hosts(mastered) == ["two", "one", "one", "one"]


def test_jobs_run_beside_each_other_and_share_containers() -> None:
    first, second, third = (
        ReplayedJob(
            name,
            lead,
            (attempt(f"{name}0", "map", "one", part(cpu=2.0)),
             attempt(f"{name}1", "map", "one", part(cpu=2.0))),
            back=back,
        )
        for name, lead, back in (("a", 1.0, 1), ("b", 1.5, 2), ("c", 0.5, 2))
    )  # fmt: skip

    def begins(slots: int) -> dict[str, float]:
        shared = cluster(cores=8, containers=slots)
        jobs = RecordedJobs(0.0, 0.5, (first, second, third), shared, None)
        return {name: start for name, (start, _) in times(jobs).items()}

    # the third follows the first, which has ended at 3
    assert begins(6) == {"a0": 1, "a1": 1, "b0": 1.5, "b1": 1.5, "c0": 3.5, "c1": 3.5}
    assert begins(3) == {"a0": 1, "a1": 1, "b0": 1.5, "b1": 3, "c0": 3.5, "c1": 3.5}
    assert begins(2) == {"a0": 1, "a1": 1, "b0": 3, "b1": 3, "c0": 5, "c1": 5}


def test_tasks_run_in_the_slots_of_their_host() -> None:
    hosts = {"a": "one", "b": "one", "c": "two"}
    tasks = [attempt(name, "task", host, part(cpu=2.0)) for name, host in hosts.items()]
    wide = run_of(*tasks)
    assert times(wide) == {"a": (1, 3), "b": (1, 3), "c": (3, 5)}
    executors = msgspec.structs.replace(wide.cluster, slots={"one": 1, "two": 1})
    there = msgspec.structs.replace(wide, cluster=executors)
    assert times(there) == {"a": (1, 3), "c": (1, 3), "b": (3, 5)}
    # two slots more: each executor has one of them
    assert times(changed(there, [containers(4)])) == dict.fromkeys("abc", (1, 3))
    assert changed(there, [containers(3)]).cluster.slots == {"one": 2, "two": 2}


def test_a_task_waits_for_a_slot_near_its_input_from_the_begin_of_its_stage() -> None:
    tasks = [attempt("a", "task", "one", part(cpu=2.0), apart=3.0)]
    tasks += [attempt(name, "task", "two", part(cpu=2.0)) for name in "bc"]
    assert times(run_of(*tasks)) == {"b": (1, 3), "c": (1, 3), "a": (4, 6)}
    # where slots are rare, the time for which it queued counts
    assert times(run_of(*tasks, slots=1)) == {"b": (1, 3), "c": (3, 5), "a": (5, 7)}


def test_a_reduce_begins_after_some_maps_and_gathers_until_all_are_done() -> None:
    maps = [attempt(f"m{n}", "map", "one", part(cpu=2.0 * (n + 1))) for n in range(2)]
    gather, rest = part("gather", cpu=0.5, gathers=True), part("shuffle", cpu=1.0)
    reduce = attempt("r", "reduce", "two", gather, rest, after=1)
    found = replay(run_of(*maps, reduce, slots=3, slow_start=1))
    assert [(one.task, one.start) for one in found.attempts] == [("m0", 1), ("m1", 1), ("r", 3)]
    assert [part.until for part in found.attempts[2].parts] == pytest.approx(
        [3.5, 6.0]
    )  # the last map ended at 5


def test_reduces_are_asked_for_as_maps_end_and_all_when_no_map_waits() -> None:
    maps = [attempt(f"m{n}", "map", "one", part(cpu=2.0)) for n in range(3)]
    gather = part("gather", gathers=True)
    reduces = [
        attempt(f"r{n}", "reduce", "two", gather, part("shuffle", cpu=1.0), after=after)
        for n, after in enumerate((2, 3))
    ]

    def begins(slots: int, slow_start: int) -> list[float]:
        found = times(run_of(*maps, *reduces, slots=slots, slow_start=slow_start))
        return [found[one.task][0] for one in reduces]

    assert begins(slots=2, slow_start=2) == [3, 5]  # m2 had the other container
    assert begins(slots=6, slow_start=1) == [3, 3]  # no map waits any more
    assert begins(slots=6, slow_start=3) == [3, 3]  # all maps end at 3
    late = changed(run_of(*maps, *reduces, slots=3), [setting(f"{SLOW_START}=1")])
    assert times(late)["r0"][0] == 3


def test_reduces_leave_the_last_container_to_maps() -> None:
    maps = [attempt(f"m{n}", "map", "one", part(cpu=1.0)) for n in range(3)]
    gather = part("gather", gathers=True)
    reduces = [
        attempt(f"r{n}", "reduce", "two", gather, part("shuffle", cpu=1.0), after=1)
        for n in range(2)
    ]
    found = times(run_of(maps[0], *reduces, *maps[1:], slots=2))
    assert max(end for _, end in found.values()) == pytest.approx(4, abs=1e-5)
    alone = times(run_of(maps[0], *reduces, *maps[1:], slots=1))
    assert max(end for _, end in alone.values()) == pytest.approx(6, abs=1e-5)


def test_jobs_follow_each_other() -> None:
    job = run_of(attempt("a", "map", "one", part(cpu=2.0))).jobs[0]
    both = RecordedJobs(0.0, 0.5, (job, ReplayedJob("next", 3.0, job.attempts)), cluster(), None)
    assert [(one.start, one.end) for one in replay(both).attempts] == [(1.0, 3.0), (6.0, 8.0)]


def test_a_fitted_recording_replays_as_it_was() -> None:
    recorded = recording(sort())
    for fitted in fits(recorded):
        assert replay(fitted).wall == pytest.approx(recorded.wall, rel=0.03)
    lengths = {one.task: one.end - one.start for one in replay(fits(recorded)[0]).attempts}
    for one in recorded.jobs[0].attempts:
        assert lengths[one.task] == pytest.approx(one.end - one.start, rel=0.15)


CHANGES = {
    "fast disks": faster_disks("3x"),
    "slow disks": faster_disks("0.5x"),
    "few containers": containers(2),
    "many containers": containers(8),
    "few reduces": limited("mapreduce.job.running.reduce.limit", "1"),
    "late reduces": setting("mapreduce.job.reduce.slowstart.completedmaps=1"),
    "one copy": setting("dfs.replication=1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_does_to_a_recording_what_it_does_to_the_truth(name: str) -> None:
    truth = sort()
    fitted = fits(recording(truth))[0]
    changes = [CHANGES[name]]
    expected = replay(changed(truth, changes)).wall
    assert replay(changed(fitted, changes)).wall == pytest.approx(expected, rel=0.08)
