from __future__ import annotations

import msgspec

from iostrata.replay.tests.twins import sort
from iostrata.replay.whatif import RoleTimes, WhatIf, mean_of, shared_by_chance


def answer(run: str, recorded: int, predicted: int, reduces: int) -> WhatIf:
    """A range of 10 on both sides; the reduces take half of their time with the change."""
    return WhatIf(
        runs=[run],
        changes=["disks 2 times as fast"],
        assumes=["as many dirty bytes"],
        recorded=recorded,
        replayed=recorded,
        predicted=predicted,
        low=predicted - 10,
        high=predicted + 10,
        kept=recorded / 1024,
        roles=[RoleTimes("map", 4, 50, 4, 50), RoleTimes("reduce", 2, reduces, 2, reduces // 2)],
    )


def test_several_runs_of_a_job_have_a_mean() -> None:
    found = mean_of([answer("monday", 100, 60, 40), answer("tuesday", 140, 100, 80)])
    assert found == WhatIf(
        runs=["monday", "tuesday"],
        changes=["disks 2 times as fast"],
        assumes=["as many dirty bytes"],
        recorded=120,
        replayed=120,
        predicted=80,
        low=50,
        high=110,
        kept=120 / 1024,
        roles=[RoleTimes("map", 4, 50, 4, 50), RoleTimes("reduce", 2, 60, 2, 30)],
    )
    one = answer("monday", 100, 60, 40)
    assert mean_of([one]) is one


def test_reduces_that_share_a_host_by_chance_are_named() -> None:
    spread = sort()
    assert shared_by_chance(spread) == []
    shared = spread.with_attempts(lambda _, one: msgspec.structs.replace(one, host="one"))
    [line] = shared_by_chance(shared)
    assert line.startswith("the 2 reduces of job_1 share 1 host of 2; other runs may place them")
