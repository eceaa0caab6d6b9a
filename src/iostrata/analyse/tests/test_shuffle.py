from __future__ import annotations

from operator import attrgetter

from iostrata.analyse.shuffle import MapOutput, shuffle
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call


def test_the_matrix_of_a_shuffle(traced: Traced) -> None:
    given = {"category": "shuffle", "job": "job_1", "task": "r_0"}
    engine = traced(
        [
            row_of_call("task", "receive", "m_0", bytes=10, dur=5, peer="a:1", **given),
            row_of_call("task", "receive", "m_1", bytes=20, dur=6, peer="b:1", **given),
            row_of_call("task", "receive", "m_1", bytes=30, dur=7, peer="b:1", **given),
            row_of_call("task", "copy", "", bytes=60, dur=50, peer="b:1", **given),
        ]
    )
    names = ("peer", "map", "reduce", "fetches", "bytes", "time")
    assert list(map(attrgetter(*names), engine.records(shuffle(), MapOutput))) == [
        ("a:1", "m_0", "r_0", 1, 10, 5),
        ("b:1", "m_1", "r_0", 2, 50, 13),
    ]
