"""Fits against numbers that were found apart from this code, and draws against their fit."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata_lab.workload.swim.fit import Fit, popularity_of
from iostrata_lab.workload.swim.fitting import fitted
from iostrata_lab.workload.swim.synthesis import drawn
from iostrata_lab.workload.swim.trace import TraceJob, read

# Parameters, AIC and KS of the 5,892 gaps of fb-2009 up to 600 s, each plus a random part of 1 s.
# Which parts moves the lognormal most, for gaps of 0 s: of 30 draws its AIC was 42503 to 42719, its
# sigma 1.223 to 1.258.
GAPS = {
    "exponential": ({"mean": 14.4269}, 43239, 0.1032),
    "weibull": ({"shape": 0.8625, "scale": 13.2101}, 42970, 0.0634),
    "lognormal": ({"mu": 1.9793, "sigma": 1.2479}, 42659, 0.0287),
    "gamma": ({"shape": 0.8532, "scale": 16.9082}, 43138, 0.0828),
    "hyperexponential": ({"p": 0.7889, "mean1": 9.065, "mean2": 34.466}, 42606, 0.0495),
}
# Zeros, mean and deviation of the logarithm; Hill's index of the largest 5 % and where they begin.
SIZES = {
    "input": (0.015, 10.80, 5.58, 0.665, 8.25e9),
    "shuffle": (0.755, 15.85, 6.00, 0.827, 3.46e10),
    "output": (0.010, 14.75, 5.17, 1.089, 4.05e9),
}


@pytest.fixture(scope="module")
def fit() -> Fit:
    return fitted("fb-2009", read("fb-2009"))


@pytest.mark.parametrize("name", GAPS)
def test_gaps(fit: Fit, name: str) -> None:
    parameters, aic, ks = GAPS[name]
    model = next(one for one in fit.gaps if one.name == name)
    assert model.parameters == pytest.approx(parameters, rel=0.015)
    assert model.aic == pytest.approx(aic, rel=0.002)
    assert model.ks == pytest.approx(ks, abs=0.003)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(fit: Fit, name: str) -> None:
    zero, mu, sigma, tail, tail_from = SIZES[name]
    found = getattr(fit, name)
    assert found.zero == pytest.approx(zero, abs=0.0005)
    assert found.mu == pytest.approx(mu, abs=0.005)
    assert found.sigma == pytest.approx(sigma, abs=0.005)
    assert found.tail == pytest.approx(tail, abs=0.0005)
    assert found.tail_from == pytest.approx(tail_from, rel=0.001)


def test_popularity_of_paths() -> None:
    """Of inputs that are read again, the n-th has 12 / n uses: the exponent is 1."""
    uses = {"a": 12, "b": 6, "c": 4, "d": 3, "once": 1}
    jobs = [TraceJob("j", 0, 0, 1, 1, 1, path) for path, n in uses.items() for _ in range(n)]
    found = popularity_of(jobs)
    assert found is not None
    assert found.reread == 1 - 5 / 26
    assert found.zipf == pytest.approx(1)
    assert popularity_of([TraceJob("j", 0, 0, 1, 1, 1)]) is None


def test_what_is_drawn_has_the_fit_that_it_was_drawn_from(fit: Fit) -> None:
    jobs = drawn(fit, 20_000, seed=3)
    again = fitted("again", jobs)
    for name in SIZES:
        before, after = getattr(fit, name), getattr(again, name)
        assert after.zero == pytest.approx(before.zero, abs=0.01)
        # cut off at the largest, which a lognormal of this width is now and then beyond
        assert after.mu == pytest.approx(before.mu, abs=0.25)
        assert after.most <= before.most
    gaps = [job.gap for job in read("fb-2009") if job.gap <= 600]
    assert fmean(job.gap for job in jobs) == pytest.approx(fmean(gaps), rel=0.1)
    assert drawn(fit, 100, seed=3) == jobs[:100]
    assert drawn(fit, 100, seed=4) != jobs[:100]


def test_a_fit_is_read_back_as_it_was(fit: Fit, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(builtins(fit.answer())))
    assert Fit.read(path) == fit


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gaps": []}, "no model of gaps"),
        ({"gaps": [{"name": "gamma", "parameters": {}, "aic": 1, "ks": 1}]}, "gamma has shape"),
        (
            {"gaps": [{"name": "exponential", "parameters": {"mean": -1}, "aic": 1, "ks": 1}]},
            "exponential: mean=-1",
        ),
        ({"input": {"zero": 2}}, "missing"),
        ({"output": 1}, "mapping"),
        ({"popularity": {"reread": 2, "zipf": 1}}, "reread=2.0, zipf=1.0"),
    ],
)
def test_what_is_no_fit(fit: Fit, tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(builtins(fit.answer()) | change))
    with pytest.raises(UserError, match=said) as raised:
        Fit.read(path)
    assert str(path) in raised.value.message


def test_too_few_gaps() -> None:
    jobs = read("fb-2009")[:19]
    with pytest.raises(UserError, match="few: 19 gaps"):
        fitted("few", jobs)
