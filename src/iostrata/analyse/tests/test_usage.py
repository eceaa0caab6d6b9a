from __future__ import annotations

from iostrata.analyse.engine import Engine
from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.usage import (
    AttemptUsage,
    JobUsage,
    ProcessUsage,
    attempt_usage,
    job_usage,
    process_usage,
)
from iostrata.store.tests.made import SECOND, START, process, usage

MAP, REDUCE = "attempt_1_0001_m_000000_0", "attempt_1_0001_r_000000_0"
UNKNOWN = dict.fromkeys(("io_read", "io_written", "disk_read", "disk_written"))


def job(traced: Traced) -> Engine:
    """A map, a reduce, a client without a job, and a process that nobody lists."""
    usages = [
        usage(1, 0, cpu=SECOND, io_read=1000, disk_read=10),
        usage(1, 1, cpu=3 * SECOND, interval=2 * SECOND, io_written=7),
        usage(2, 1.5, cpu=400, io_read=1, disk_written=5),
        usage(3, 0, cpu=5, **UNKNOWN),
        usage(9, 0, cpu=1),
    ]
    of_job = {"job": "job_1_0001"}
    processes = [
        process("map", 11, proc=1, task=MAP, **of_job),
        process("reduce", 12, proc=2, task=REDUCE, **of_job),
        process("client", 13, proc=3),
    ]
    return traced([], processes=processes, usages=usages)


def test_curves_of_jobs_and_of_processes_without_one(traced: Traced) -> None:
    found = job(traced).records(job_usage(START, SECOND), JobUsage)
    assert sorted(found, key=lambda row: (row.job or "", row.bin)) == [
        JobUsage(None, "client", 0, 1, 5, None, None, None, None),
        JobUsage(None, "client", 1, 1, 0, None, None, None, None),
        JobUsage("job_1_0001", None, 0, 1, SECOND, 1000, 0, 10, 0),
        JobUsage("job_1_0001", None, 1, 2, 3 * SECOND // 2 + 200, 0, 3, 0, 2),
        JobUsage("job_1_0001", None, 2, 2, 3 * SECOND // 2 + 200, 1, 4, 0, 3),
        JobUsage("job_1_0001", None, 3, 1, 0, 0, 0, 0, 0),
    ]


def test_curves_of_attempts(traced: Traced) -> None:
    found = job(traced).records(attempt_usage(START, 10 * SECOND), AttemptUsage)
    assert found == [
        AttemptUsage("job_1_0001", MAP, "map", 0, 4 * SECOND, 1000, 7, 10, 0),
        AttemptUsage("job_1_0001", REDUCE, "reduce", 0, 400, 1, 0, 0, 5),
    ]


def test_curves_of_processes(traced: Traced) -> None:
    found = job(traced).records(process_usage(START, 2 * SECOND), ProcessUsage)
    assert found == [
        ProcessUsage(1, "map", "node", 0, 5 * SECOND // 2, 10, 0),
        ProcessUsage(1, "map", "node", 1, 3 * SECOND // 2, 0, 0),
        ProcessUsage(2, "reduce", "node", 0, 200, 0, 2),
        ProcessUsage(2, "reduce", "node", 1, 200, 0, 3),
        ProcessUsage(3, "client", "node", 0, 5, None, None),
    ]


def test_an_older_run_has_no_curves(traced: Traced) -> None:
    engine = traced([], processes=[process("map", 1, proc=1, job="j", task=MAP)])
    assert engine.records(job_usage(START, SECOND), JobUsage) == []
    assert engine.records(attempt_usage(START, SECOND), AttemptUsage) == []
    assert engine.records(process_usage(START, SECOND), ProcessUsage) == []
