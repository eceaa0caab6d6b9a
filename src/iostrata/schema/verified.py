"""Which points an end-to-end test has seen fire: verified.json, written by `make verified`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from iostrata.schema.points import Point

PATH = Path(__file__).with_name("verified.json")


def point_key(point: Point) -> str:
    """`Class#method desc`: what a point is, whatever its id."""
    return f"{point.cls}#{point.method} {point.desc}"


@cache
def verified_points() -> dict[str, list[str]]:
    """Names of the tests that saw it fire, per point key."""
    found: dict[str, list[str]] = json.loads(PATH.read_text("utf-8"))
    return found
