"""Where maps ran."""

from __future__ import annotations

import pytest

from iostrata.analyse.placement import MapPlaces, map_places, placed_maps
from iostrata.analyse.tests.conftest import Traced
from iostrata.store.tests.made import row_of_call

JOB, OTHER = "job_1_0001", "job_1_0002"
PLACED = [
    (JOB, "data-local/attempt_1_0001_m_000000_0"),
    (JOB, "data-local/attempt_1_0001_m_000000_0"),  # said twice
    (JOB, "data-local/attempt_1_0001_m_000001_0"),
    (JOB, "rack-local/attempt_1_0001_m_000001_1"),
    (JOB, "remote/attempt_1_0001_m_000002_0"),
    (JOB, "anywhere/attempt_1_0001_r_000000_0"),  # a reduce has no place
    (OTHER, "anywhere/attempt_1_0002_m_000000_0"),
]


@pytest.mark.parametrize(
    ("locality", "expected"), [("free", (2, 1, 1, 0)), ("remote", (2, 0, 2, 0))]
)
def test_maps_are_counted_by_job(
    traced: Traced, locality: str, expected: tuple[int, int, int, int]
) -> None:
    """GIVEN a file system that names the nodes with the input, or those without."""
    engine = traced([row_of_call("task", "place", target, job=job) for job, target in PLACED])
    assert len(engine.records(placed_maps(), MapPlaces)) == 2
    assert map_places(engine, {JOB: {"fs.posix.locality": locality}}) == [
        MapPlaces(JOB, *expected),
        MapPlaces(OTHER, 0, 0, 0, 1),
    ]
