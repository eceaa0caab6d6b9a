"""The Zipf law is found again in what was drawn from one."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from iostrata_lab.workload.requests.popularity import Popular, popular


@pytest.mark.parametrize(
    ("files", "zipf", "draws"),
    [(1000, 0.8, 1700), (1000, 0.0, 2000), (100_000, 1.1, 5000), (50, 1.5, 300)],
)
def test_files_and_exponent_are_those_drawn_from(files: int, zipf: float, draws: int) -> None:
    """Most files were hit once or never, so counts by rank alone would give neither."""
    weights = [rank**-zipf for rank in range(1, files + 1)]
    drawn = Counter(random.Random(1).choices(range(files), weights, k=draws))
    found = popular(drawn.values())
    assert found.seen == len(drawn)
    assert found.files == pytest.approx(files, rel=0.25)
    assert found.zipf == pytest.approx(zipf, abs=0.06)


@pytest.mark.parametrize(
    ("uses", "said"),
    [([], Popular(1, 0.0, 0)), ([1, 1, 1], Popular(3, 0.0, 3)), ([9], Popular(1, 0.0, 1))],
)
def test_what_says_little(uses: list[int], said: Popular) -> None:
    found = popular(uses)
    assert (found.files, round(found.zipf, 6), found.seen) == (said.files, said.zipf, said.seen)
