"""What tracing cost, as values and as lines."""

from __future__ import annotations

from typing import Any

from iostrata.analyse.cost import SummedPoint, cost
from iostrata.analyse.processes import Process
from iostrata.show.summary import cost_lines

SECOND = 10**9


def process(pid: int, **more: Any) -> Process:
    known = dict.fromkeys(Process.__struct_fields__)
    known |= {"role": "map", "pid": pid, "host": "node", "task": "", "traced": True, "reason": ""}
    known |= {"cpu": 10 * SECOND, "cost": 0, "cost_collector": 0, "over": 0}
    return Process(**{**known, **more})


BUDGET = 10_000


def test_shares_are_of_the_cpu_of_traced_processes() -> None:
    found = cost(
        BUDGET,
        [
            process(1, cost=SECOND // 20, cost_collector=SECOND // 20),
            process(2),
            process(3, traced=False, cpu=None, cost=None),
            process(4, cpu=0),  # too short to have said anything
        ],
    )
    assert (found.processes, found.cpu, found.share) == (2, 20 * SECOND, 0.005)
    assert cost_lines(found) == [
        "tracing took ~0.5 % of the CPU time of 2 processes (20.00 s), budget 1 %; start-up not "
        "counted",
        "only in sums, as wherever there is a budget: reads of jars and class files",
    ]


def test_points_only_summed_are_named_once() -> None:
    found = cost(
        BUDGET,
        [
            process(1, summed="java.io.FileInputStream#read 3,a.B#c(I)V 1"),
            process(2, summed="java.io.FileInputStream#read 5"),
        ],
    )
    assert found.summed == [
        SummedPoint("java.io.FileInputStream#read", processes=2, seconds=5),
        SummedPoint("a.B#c(I)V", processes=1, seconds=1),
    ]
    assert cost_lines(found)[1] == (
        "only in sums, to stay within the budget: FileInputStream#read (2 processes, 5 s), "
        "B#c(I)V (1 process, 1 s)"
    )


def test_a_budget_is_not_met_when_nothing_more_could_be_summed() -> None:
    dear = {"cost": SECOND // 2, "over": 3 * SECOND}
    started = {"cost": SECOND // 2}  # in its first second only
    brief = {"cost": SECOND // 20, "over": SECOND}  # over for a second, and within it as a whole
    rows = [process(1, **dear), process(2, **started), process(3, **brief)]
    assert [row.pid for row in cost(BUDGET, rows).over] == [1]
    assert "budget not met: map pid 1 on node (5.0 %)" in cost_lines(cost(BUDGET, rows))[1]
    assert cost(0, rows).over == []
    assert "budget off" in cost_lines(cost(0, rows))[0]


def test_nothing_is_said_when_nothing_is_known() -> None:
    assert cost_lines(cost(BUDGET, [])) == []
