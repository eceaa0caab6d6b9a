from __future__ import annotations

from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.threads import ThreadGroup, ThreadWork, thread_groups, thread_works
from iostrata.store.tests.made import process, row_of_call, row_of_sum, thread

RUN = {"phase": "stage 1.0", "task": "task_1", "job": "job_1"}


def test_threads_of_a_role_are_one_group_but_for_numbers(traced: Traced) -> None:
    threads = [
        thread(1, 11, "worker 1 of 20", cpu=30, queued=1),
        thread(1, 12, "worker 2 of 20", cpu=50, queued=2),
        thread(1, 12, "worker 2 of 20", cpu=5, queued=0),  # in a second recording
        thread(2, 11, "worker 1 of 20", cpu=7, queued=0),
        thread(3, 1, "main", cpu=90, queued=0),  # of a process that has no row
    ]
    processes = [process("executor", 10, proc=1), process("client", 20, proc=2)]
    found = traced([row_of_sum("java", "read")], processes=processes, threads=threads).records(
        thread_groups(), ThreadGroup
    )
    assert found == [
        ThreadGroup(role="", name="main", threads=1, cpu=90, queued=0, busiest=90),
        ThreadGroup(role="executor", name="worker # of #", threads=2, cpu=85, queued=3, busiest=55),
        ThreadGroup(role="client", name="worker # of #", threads=1, cpu=7, queued=0, busiest=7),
    ]


def test_work_is_of_processes_that_run_tasks_of_stages(traced: Traced) -> None:
    events = [
        row_of_call("task", "run", "", proc=1, **RUN),
        row_of_call("task", "run", "", proc=2, phase="map", task="attempt_1"),
    ]
    threads = [
        thread(1, 12, "b", cpu=50, queued=2),
        thread(1, 11, "a", cpu=30, queued=1),
        thread(1, 11, "a", cpu=3, queued=0),
        thread(2, 11, "main", cpu=7, queued=0),
    ]
    found = traced(events, threads=threads).records(thread_works(), ThreadWork)
    assert found == [ThreadWork(1, 11, 34), ThreadWork(1, 12, 52)]


def test_a_run_without_times_of_threads_has_none(traced: Traced) -> None:
    engine = traced([row_of_sum("java", "read")])
    assert engine.records(thread_groups(), ThreadGroup) == []
