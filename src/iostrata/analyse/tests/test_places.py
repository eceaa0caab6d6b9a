from __future__ import annotations

from iostrata.analyse.places import RequestPlace, places
from iostrata.analyse.tests.conftest import Traced
from iostrata.analyse.tests.test_merged import read


def test_of_many_requests_some_are_places(traced: Traced) -> None:
    """GIVEN a stream of 10 requests, one of 3, and reads whose place nobody knows."""
    calls = [read(n, 4096 * n) for n in range(10)]
    calls += [read(n, 100 * n) | {"target": "/b"} for n in range(3)]
    calls += [read(50, -1), read(51, 0, 0)]
    found = traced(calls).records(places(4), RequestPlace)
    assert [(row.target, row.start // 10**6, row.offset) for row in found] == [
        ("/a", 0, 0),
        ("/a", 3, 3 * 4096),
        ("/a", 6, 6 * 4096),
        ("/a", 9, 9 * 4096),
        ("/b", 0, 0),
        ("/b", 1, 100),
        ("/b", 2, 200),
    ]
