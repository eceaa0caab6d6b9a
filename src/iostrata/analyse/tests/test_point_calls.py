from __future__ import annotations

from iostrata.analyse.point_calls import WovenPoints, woven_points
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import process


def test_processes_that_took_up_points_of_users(traced: Traced) -> None:
    states = "1 woven A#b ()V,2 missing A#c ()V"
    processes = [
        process("map", 12, proc=9, user_points="1 woven A#b ()V"),
        process("map", 11, proc=8, user_points=states),
        process("map", 13, proc=7, user_points=None),  # took up none
        process("map", 14, proc=6, user_points=""),
    ]
    found = traced([], processes=processes).records(woven_points(), WovenPoints)
    assert found == [WovenPoints(8, states), WovenPoints(9, "1 woven A#b ()V")]
