"""Runs of several jobs: rules judge each by itself, and cut times at what happened."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.finding import Finding
from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import JOB, KB, MB, MS, attempt, call, did
from iostrata.store.tests.made import SECOND

OTHER = "job_1_0002"
LAST = "job_1_0003"


def found(facts_of: Made, events: list[dict[str, Any]], *attempts: dict[str, Any]) -> list[Finding]:
    return explain(facts_of(events, processes=list(attempts)))


def named(findings: list[Finding], rule: str) -> Finding:
    return next(each for each in findings if each.rule == rule)


def test_a_reduce_waits_for_maps_of_its_own_job(facts_of: Made) -> None:
    """GIVEN a sort, whose reduces ran 20 s beside maps that were all started, then a check of its
    output with maps of its own THEN the reduces held nothing that anybody waited for.
    """
    sort = [attempt("map", n, 0, 20) for n in range(2)]
    sort += [attempt("reduce", n, 5, 30) for n in range(2)]
    check = [attempt("map", 20 + n, 30, 58, job=OTHER) for n in range(2)]
    assert "reduces-wait" not in [each.rule for each in found(facts_of, [], *sort, *check)]


def test_a_reduce_that_has_ended_holds_nothing(facts_of: Made) -> None:
    """GIVEN a reduce that failed after 10 s, 20 s before the last map began."""
    attempts = [attempt("map", 0, 0, 30), attempt("map", 1, 30, 60)]
    finding = named(found(facts_of, [], *attempts, attempt("reduce", 0, 0, 10)), "reduces-wait")
    assert finding.seen == "1 reduce held containers for 10.00 s while maps still had to start"


def test_a_host_is_not_slow_because_its_job_is_long(facts_of: Made) -> None:
    near = [attempt("map", n, 0, 10) for n in range(4)]
    far = [attempt("map", 20 + n, 0, 50, job=OTHER, host="far") for n in range(4)]
    assert "slow-node" not in [each.rule for each in found(facts_of, [], *near, *far)]


def test_a_slow_host_slows_each_job(facts_of: Made) -> None:
    """GIVEN two jobs with maps on three hosts, of which one takes 30 s and 10 s longer."""
    attempts = []
    for first, job, times in ((0, JOB, (10, 10, 40)), (20, OTHER, (10, 10, 20))):
        hosts = zip(("near", "close", "far"), times, strict=True)
        attempts += [
            attempt("map", first + 2 * place + n, 0, time, job=job, host=host)
            for place, (host, time) in enumerate(hosts)
            for n in range(2)
        ]
    finding = named(found(facts_of, [], *attempts), "slow-node")
    assert finding.seen == "map attempts took 40.00 s on average on host far, and 10.00 s on " + (
        "other hosts"
    )
    # 2 attempts took 30 s longer, 2 took 10 s longer, of 200 s during 40 of 60 s
    assert finding.share == pytest.approx(80 / 200 * 40 / 60)


def test_short_tasks_are_seen_beside_long_ones(facts_of: Made) -> None:
    """GIVEN a job of 24 tasks of a second, and one of 4 that work for 50 s."""
    short = [attempt("map", n, 5 * (n // 4), 5 * (n // 4) + 5) for n in range(24)]
    long = [attempt("map", 30 + n, 0, 55, job=OTHER) for n in range(4)]
    runs = [
        did("task", "run", 24, SECOND, "map", job=JOB),
        did("task", "run", 4, 50 * SECOND, "map", job=OTHER),
    ]
    finding = named(found(facts_of, runs, *short, *long), "short-tasks")
    assert finding.seen == (
        "24 tasks worked for 1.00 s each on average, and took 4.00 s each to start and end"
    )


def test_spills_are_those_of_a_job(facts_of: Made) -> None:
    """GIVEN a job whose maps spill five times, between two whose maps spill once."""
    jobs = (JOB, OTHER, LAST)
    attempts = [
        attempt("map", 20 * place + n, 20 * place, 20 * place + 20, job=job)
        for place, job in enumerate(jobs)
        for n in range(4)
    ]
    spills = [
        did("task", "spill", calls, MS, "map", job=job)
        for job, calls in zip(jobs, (4, 20, 4), strict=True)
    ]
    spills.append(did("task", "merge", 4, 10 * SECOND, "map", job=OTHER))
    finding = named(found(facts_of, spills, *attempts), "too-many-spills")
    assert finding.seen == "maps spilled 5.0 times on average; merging these spills took 40.00 s"


def test_small_files_are_those_of_a_job(facts_of: Made) -> None:
    """GIVEN a job of 40 small files, and one that read 40 large ones."""
    small = [call("hdfs", "read", f"/in/{n}", MS, "map", bytes=KB, job=JOB) for n in range(40)]
    large = [
        call("hdfs", "read", f"/big/{n}", MS, "map", bytes=100 * MB, job=OTHER) for n in range(41)
    ]
    maps = [attempt("map", n, 4.5 * (n // 4), 4.5 * (n // 4) + 1.5) for n in range(40)]
    maps += [attempt("map", 40 + n, 0, 60, job=OTHER) for n in range(4)]
    finding = named(found(facts_of, [*small, *large], *maps), "many-small-files")
    assert finding.seen.startswith(
        "the job read 40 files of 1.0 KiB on average, with 40 map tasks where 8 would be enough"
    )


def test_a_reduce_alone_has_ended_before_the_next_job(facts_of: Made) -> None:
    """GIVEN a job with one reduce that works for 20 s after its maps, and 10 s later the next."""
    copied = did("task", "copy", 4, 0, "reduce", task="attempt_1_0001_r_000000_0", bytes=50 * MB)
    first = [*(attempt("map", n, 0, 10) for n in range(4)), attempt("reduce", 0, 10, 30)]
    then = [attempt("map", 20 + n, 40, 60, job=OTHER) for n in range(4)]
    finding = named(found(facts_of, [copied], *first, *then), "one-reduce")
    assert finding.seen == (
        "1 reduce worked alone for 20.00 s on up to 50.0 MiB, while there was room for 4 tasks"
    )


def test_a_reduce_is_not_alone_beside_another_job(facts_of: Made) -> None:
    """GIVEN a job with one reduce that works for 30 s after its maps, and another job, which has a
    map in the middle 10 s of them and one before.
    """
    copied = did("task", "copy", 4, 0, "reduce", task="attempt_1_0001_r_000000_0", bytes=50 * MB)
    mine = [*(attempt("map", n, 0, 10) for n in range(4)), attempt("reduce", 0, 10, 40)]
    others = [attempt("map", 20 + n, 0, 8, job=OTHER) for n in range(4)]
    others += [attempt("map", 30 + n, 20, 30, job=OTHER) for n in range(2)]
    finding = named(found(facts_of, [copied], *mine, *others), "one-reduce")
    assert finding.seen == (
        "1 reduce worked alone for 20.00 s on up to 50.0 MiB, while there was room for 8 tasks"
    )
