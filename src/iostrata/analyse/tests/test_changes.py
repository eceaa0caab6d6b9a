from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from iostrata.analyse.changes import GroupChange, change, changed
from iostrata.analyse.intervals import t_quantile, t_tails


@given(some.floats(-60, 60), some.floats(1, 500))
def test_tails_are_those_of_student(t: float, freedom: float) -> None:
    assert t_tails(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-6)


@given(some.floats(1, 500))
def test_quantiles_are_those_of_student(freedom: float) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


# Apart enough that scipy's variance of their logarithms is not made of rounding.
VALUES = some.lists(some.integers(1, 10**6), min_size=2, max_size=9, unique=True)


@given(VALUES, VALUES)
def test_the_interval_is_that_of_welch_on_logarithms(first: list[int], second: list[int]) -> None:
    import numpy as np

    found = change(first, second)
    told = stats.ttest_ind(np.log(second), np.log(first), equal_var=False)
    ends = told.confidence_interval(0.95)
    assert found.p == pytest.approx(told.pvalue, rel=1e-6, abs=1e-12)
    assert found.low == pytest.approx(np.expm1(ends.low), rel=1e-6, abs=1e-9)
    assert found.high == pytest.approx(np.expm1(ends.high), rel=1e-6, abs=1e-9)


def test_one_run_a_side_says_nothing_about_noise() -> None:
    assert change([100], [80, 81]) == GroupChange(100, 80.5, 80.5 / 100 - 1)
    assert change([0], [80]) == GroupChange(0, 80)


def test_what_never_scatters_has_changed_when_it_differs() -> None:
    assert change([7, 7], [7, 7, 7]).p == 1
    assert change([7, 7], [14, 14]) == GroupChange(7, 14, 1, 1, 1, p=0)
    assert change([0, 0], [5, 5]) == GroupChange(0, 5, p=0)


def test_zeros_are_compared_as_they_are() -> None:
    found = change([0, 10, 5], [20, 25, 21])
    assert found.share == pytest.approx(22 / 5 - 1)
    told = stats.ttest_ind([20, 25, 21], [0, 10, 5], equal_var=False).confidence_interval()
    assert (found.least, found.most) == pytest.approx((told.low, told.high))
    assert (found.low, found.high) == (None, None)  # a difference is no share
    appeared = change([0, 0], [5, 6])
    assert (appeared.share, appeared.low) == (None, None)
    assert appeared.p == pytest.approx(stats.ttest_ind([5, 6], [0, 0], equal_var=False).pvalue)


def test_of_many_rows_that_did_not_change_few_seem_to() -> None:
    # GIVEN 4,000 rows of three repeats a side, of which every fortieth doubled
    made = random.Random(5)
    p_values, doubled = [], []
    for row in range(4000):
        scale = 2 if row % 40 == 0 else 1
        first = [made.lognormvariate(10, 0.05) for _ in range(3)]
        second = [scale * made.lognormvariate(10, 0.05) for _ in range(3)]
        found = change(first, second).p
        assert found is not None
        p_values.append(found)
        doubled.append(scale == 2)
    # THEN each by itself, 5 % of the others seem changed
    assert 0.03 < sum(p < 0.05 for p in p_values) / 4000 - 100 / 4000 < 0.07
    # AND together, few of those that are said to have changed did not
    said = changed(p_values)
    wrong = sum(was and not did for was, did in zip(said, doubled, strict=True))
    assert sum(said) > 60
    assert wrong / sum(said) < 0.12


def test_no_comparison_is_none_that_changed() -> None:
    assert changed([]) == []
    assert changed([0.04, 0.9, 0.0]) == [False, False, True]
