"""Applications of Spark: attempts are compared within their stage."""

from __future__ import annotations

from typing import Any

import pytest

from iostrata.explain.finding import Finding
from iostrata.explain.rank import explain
from iostrata.explain.tests.conftest import Made
from iostrata.explain.tests.made import MB, MINUTE, call, did
from iostrata.store.tests.made import SECOND, START, process

APPLICATION = "application_1_0001"
EXECUTORS = [
    process("executor", pid, proc=pid, host=host, job=APPLICATION, start=START, end=START + MINUTE)
    for pid, host in ((11, "near"), (12, "far"))
]


def task(
    stage: int, index: int, begin: float, dur: float, again: int = 0, **more: Any
) -> dict[str, Any]:
    """An attempt of a task of a stage, times in seconds of the run."""
    name = f"{APPLICATION}_stage_{stage}.0_task_{index}.{again}"
    whose = {"job": APPLICATION, "task": name, "phase": f"stage {stage}.0"}
    start = START + int(begin * SECOND)
    return call("task", "run", "", int(dur * SECOND), "executor", start=start, **{**whose, **more})


def fetched(attempt: dict[str, Any], size: int) -> dict[str, Any]:
    whose = {name: attempt[name] for name in ("job", "task", "phase")}
    return did("task", "fetch", 1, 0, "executor", bytes=size, **whose)


def found(facts_of: Made, events: list[dict[str, Any]]) -> dict[str, Finding]:
    return {each.rule: each for each in explain(facts_of(events, processes=EXECUTORS))}


def test_a_stage_whose_tasks_take_longer_has_no_straggler(facts_of: Made) -> None:
    short = [task(0, n, 0, 2) for n in range(6)]
    long = [task(1, n, 10, 40) for n in range(3)]
    assert not {"straggler", "slow-node"} & found(facts_of, short + long).keys()


def test_a_task_that_takes_longer_than_those_of_its_stage(facts_of: Made) -> None:
    tasks = [task(0, n, 0, 2) for n in range(6)]
    tasks += [task(1, n, 10, 40 if n == 3 else 10) for n in range(4)]
    finding = found(facts_of, tasks)["straggler"]
    assert finding.seen == (
        f"{APPLICATION}_stage_1.0_task_3.0 worked for 40.00 s, while the median of 4 executor "
        "attempts is 10.00 s"
    )
    assert "spark.speculation" in [each.setting for each in finding.change]


def test_a_task_that_fetches_most(facts_of: Made) -> None:
    tasks = [task(1, n, 0, 50 if n == 2 else 10) for n in range(3)]
    sizes = (2 * MB, MB, 90 * MB)
    finding = found(facts_of, [*tasks, *map(fetched, tasks, sizes)])["shuffle-skew"]
    assert finding.seen == (
        "one of 3 tasks of stage 1.0 fetched 90.0 MiB, while the median is 2.0 MiB; the longest "
        "task ran 40.00 s longer than the median"
    )
    assert "spark.sql.adaptive.skewJoin.enabled" in [each.setting for each in finding.change]


def test_a_task_that_was_tried_twice(facts_of: Made) -> None:
    tasks = [task(1, 0, 0, 20), task(1, 0, 20, 10, again=1), task(1, 1, 0, 10), task(2, 0, 30, 10)]
    finding = found(facts_of, tasks)["failed-attempts"]
    assert finding.seen == (
        "1 attempt of 1 task ran for 20.00 s in vain, because another attempt did the same work"
    )
    assert finding.change


def test_a_task_that_raced_with_itself(facts_of: Made) -> None:
    tasks = [task(1, 0, 0, 30), task(1, 0, 10, 15, again=1), task(1, 1, 0, 10)]
    rules = found(facts_of, tasks)
    assert "failed-attempts" not in rules
    finding = rules["speculation"]
    assert finding.seen == "1 task ran in two attempts at once for 15.00 s, one of them in vain"
    assert "spark.speculation" in [each.setting for each in finding.change]


def test_a_host_whose_tasks_take_longer(facts_of: Made) -> None:
    near = [task(1, n, 0, 10, proc=11, host="near") for n in range(2)]
    far = [task(1, 2 + n, 0, 40, proc=12, host="far") for n in range(2)]
    others = [task(0, n, 0, 10, proc=12, host="far") for n in range(8)]
    finding = found(facts_of, near + far + others)["slow-node"]
    assert finding.seen == (
        "executor attempts took 40.00 s on average on host far, and 10.00 s on other hosts"
    )


def test_stages_of_many_short_tasks(facts_of: Made) -> None:
    """80 tasks one after the other in two slots, none below 0.2 s."""
    tasks = [task(1, n, n // 2 * 0.3, 0.2 if n == 7 else 0.3, proc=11 + n % 2) for n in range(80)]
    finding = found(facts_of, tasks)["short-stages"]
    assert finding.seen == (
        "80 tasks of 1 stage ran for 298.8 ms each on average, and none in less than 200.0 ms, "
        "whatever it had to do"
    )
    assert finding.share == pytest.approx(76 * 0.2 / 2 / 60, rel=0.01)
    assert finding.change


def test_few_tasks_or_long_ones_are_no_fault(facts_of: Made) -> None:
    few = [task(0, n, n * 0.3, 0.3) for n in range(10)]
    long = [task(1, n, 10 + n, 2) for n in range(40)]
    assert "short-stages" not in found(facts_of, few + long)
