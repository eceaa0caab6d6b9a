from __future__ import annotations

import pytest

from iostrata.errors import UserError
from iostrata.schema.names import points_named
from iostrata.schema.points import POINTS
from iostrata.schema.verified import point_key, verified_points


def test_every_point_is_found_by_its_full_name() -> None:
    for point in POINTS:
        assert point.id in points_named([f"{point.cls}#{point.method}{point.desc}"])


def test_a_short_name_means_all_overloads() -> None:
    reads = [p.id for p in POINTS if p.cls == "java.io.FileInputStream" and p.method == "read"]
    assert len(reads) > 1
    assert points_named(["FileInputStream#read"]) == reads
    assert len(points_named(["FileInputStream#read([BII)I"])) == 1


def test_a_name_of_no_point() -> None:
    with pytest.raises(UserError, match="no point is called 'Nothing#at_all'"):
        points_named(["FileInputStream#read", "Nothing#at_all"])


def test_verified_points_are_points() -> None:
    assert set(verified_points()) <= {point_key(point) for point in POINTS}


def test_a_point_that_no_test_fires_says_why() -> None:
    """At most one in twenty, and none of them without a reason."""
    points = [point for point in POINTS if point.makes_rows]
    listed = verified_points()
    silent = [point for point in points if point_key(point) not in listed]
    assert [point_key(point) for point in silent if not point.unverified] == []
    assert [point_key(p) for p in points if p.unverified and point_key(p) in listed] == []
    assert len(silent) <= len(points) / 20
