"""Student's t is that of SciPy's distribution, and bounds are those of its formulas."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from iostrata.analyse.intervals import (
    LEAST,
    Spread,
    half_widths,
    share_bounds,
    t_quantile,
    t_tails,
)


@pytest.mark.parametrize("freedom", [1, 2, 3.5, 10, 30, 100, 1e6])
def test_students_t(freedom: float) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)
    assert t_quantile(freedom, 0.2) == pytest.approx(stats.t.ppf(0.9, freedom), rel=1e-9)
    assert t_tails(-1.5, freedom) == pytest.approx(2 * stats.t.sf(1.5, freedom), rel=1e-9)


def test_half_widths() -> None:
    alike = Spread(200, 200 * 9.0, 200 * 81.0)
    few, certain, whole = Spread(LEAST - 1, 9.0, 81.0), Spread(0, 0.0, 0.0), Spread(200, 0.0, 0.0)
    found = half_widths([alike, few, certain, whole])
    assert found[0] == pytest.approx(stats.t.ppf(0.975, 199) * math.sqrt(200 * 9 * 200 / 199))
    assert found[1:] == [None, 0.0, 0.0]
    assert half_widths([]) == []


def test_bounds_of_a_share_are_wilsons() -> None:
    found = stats.binomtest(50, 100).proportion_ci(0.95, "wilson")
    assert share_bounds(0.5, 100, 1e9) == pytest.approx((found.low, found.high), rel=1e-6)
