"""Intervals against tables and published values; verdicts against what they must never say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.measure import stats
from bench.measure.stats import Interval, Verdict, verdict
from hypothesis import given
from hypothesis import strategies as st

# Student's own data (1908, hours of sleep gained, Cushny and Peebles): differences of ten pairs.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_the_interval_of_students_sleep_data() -> None:
    # R: t.test(extra ~ group, sleep, paired) gives 1.58, 0.7001142 to 2.4598858.
    found = stats.mean(SLEEP)
    assert found.n == 10
    assert found.estimate == pytest.approx(1.58)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)


def test_the_detectable_effect_is_the_one_of_a_power_table() -> None:
    # R: power.t.test(n=10, sd=1, power=.8, type="paired") gives delta = 0.9961 (strict).
    unit = [*np.linspace(-1, 1, 10)]
    unit = [value / float(np.std(unit, ddof=1)) for value in unit]
    assert stats.detectable(unit) == pytest.approx(0.996, abs=0.002)


def test_the_power_is_what_it_says() -> None:
    chosen = np.random.default_rng(1)
    effect = stats.detectable([*chosen.normal(0, 1, 100_000)]) * math.sqrt(100_000 / 40)
    # About the same for 40 values: the t distribution is close to the normal one there.
    seen = [stats.mean([*chosen.normal(effect, 1, 40)]).low > 0 for _ in range(500)]
    assert 0.74 < np.mean(seen) < 0.86


def test_a_ratio_is_symmetric() -> None:
    pairs = [(1.1, 1.0), (1.0, 1.1), (1.05, 1.0), (1.0, 1.05)]
    assert stats.ratio(pairs).estimate == pytest.approx(0.0, abs=1e-12)
    doubled = stats.ratio([(2 * a, a) for a in (1.0, 3.0, 5.0)])
    assert (doubled.estimate, doubled.low, doubled.high) == pytest.approx((1, 1, 1))


def test_the_bootstrap_agrees_with_t_where_both_hold() -> None:
    values = [*np.random.default_rng(2).normal(10, 1, 200)]
    ours, t = stats.bootstrap(values), stats.mean(values)
    assert (ours.low, ours.high) == pytest.approx((t.low, t.high), abs=0.02)
    assert stats.bootstrap(values) == ours
    assert stats.bootstrap([3.0, 3.0, 3.0]).high == 3.0


def test_nothing_comes_from_nothing() -> None:
    assert math.isnan(stats.mean([]).estimate)
    one = stats.mean([4.0])
    assert one.estimate == 4.0
    assert math.isnan(one.high)
    assert one.facts() == {"estimate": 4.0, "low": None, "high": None, "n": 1, "detectable": None}


def test_a_line_has_both_its_costs() -> None:
    # Exact first: 5 s a run and 10 ms a MB.
    exact = stats.line([(64, 5.64), (256, 7.56), (64, 5.64), (256, 7.56)])
    assert exact is not None
    assert exact.fixed.estimate == pytest.approx(5.0)
    assert exact.slope.estimate == pytest.approx(0.01)
    chosen = np.random.default_rng(3)
    noisy = stats.line([(x, 5 + 0.01 * x + chosen.normal(0, 0.2)) for x in [64, 256] * 20])
    assert noisy is not None
    assert noisy.fixed.low < 5 < noisy.fixed.high
    assert noisy.slope.low < 0.01 < noisy.slope.high
    assert stats.line([(64, 1.0), (64, 2.0), (64, 3.0)]) is None


GOOD = Interval(0.002, -0.003, 0.007, 12, detectable=0.008)


@pytest.mark.parametrize(
    ("found", "problems", "word"),
    [
        (GOOD, [], "pass"),
        (Interval(0.05, 0.03, 0.07, 12, 0.03), [], "fail"),
        (Interval(0.01, -0.019, 0.039, 12, 0.04), [], "inconclusive"),
        # below the bar, but by luck: such a spread does not see one per cent
        (Interval(-0.02, -0.049, 0.009, 12, 0.04), [], "inconclusive"),
        (Interval(-0.02, -0.021, -0.019, 12, 0.001), [], "inconclusive"),
        (Interval(0.002, -0.003, 0.01, 12, 0.008), [], "inconclusive"),  # at the bar is not below
        (Interval(0.002, -0.003, 0.007, 9, 0.008), [], "inconclusive"),
        (Interval(0.05, 0.03, 0.07, 9, 0.03), [], "inconclusive"),
        (Interval(0.0, math.nan, math.nan, 12), [], "inconclusive"),
        (Interval(0.002, -0.003, 0.007, 12), [], "inconclusive"),  # nobody knows what it would see
        (GOOD, ["12 events dropped"], "inconclusive"),
    ],
)
def test_verdicts_against_one_per_cent(found: Interval, problems: list[str], word: str) -> None:
    assert verdict(found, 0.01, problems).word == word


def test_a_verdict_says_why() -> None:
    assert verdict(GOOD, 0.01) == Verdict("pass", "-0.30% to +0.70% lies below 1%")
    assert verdict(GOOD, 0.01, ["a", "b"]).why == "a; b"


number = st.floats(allow_nan=True, allow_infinity=True)


@given(number, number, number, st.integers(0, 50), number, st.floats(0.001, 0.1))
def test_no_pass_is_unearned(
    estimate: float, low: float, high: float, n: int, seen: float, bar: float
) -> None:
    found = Interval(estimate, low, high, n, seen)
    if verdict(found, bar).word == "pass":
        assert n >= stats.FEWEST_PAIRS
        assert low <= bar
        assert 0 <= high < bar
        assert seen <= bar
        assert verdict(found, bar, ["anything"]).word == "inconclusive"


def test_a_cost_at_the_bar_rarely_passes() -> None:
    """With a true cost of exactly the bar, at most 2.5 % of all experiments may say pass."""
    chosen = np.random.default_rng(4)
    for spread in (0.002, 0.01, 0.03):
        words = [
            verdict(stats.mean([*chosen.normal(0.01, spread, 12)]), 0.01).word for _ in range(700)
        ]
        assert words.count("pass") / len(words) < 0.04
    words = [verdict(stats.mean([*chosen.normal(0, 0.002, 12)]), 0.01).word for _ in range(200)]
    assert words.count("pass") / len(words) > 0.9


@pytest.mark.parametrize(
    ("slope", "word"),
    [
        (Interval(0.001, -0.004, 0.006, 8), "flat"),
        (Interval(0.03, 0.02, 0.04, 8), "not flat"),
        (Interval(-0.03, -0.04, -0.02, 8), "not flat"),
        (Interval(0.001, -0.05, 0.05, 8), "inconclusive"),
        (Interval(0.001, math.nan, math.nan, 2), "inconclusive"),
    ],
)
def test_flat(slope: Interval, word: str) -> None:
    assert stats.flat(slope, 0.01).word == word
