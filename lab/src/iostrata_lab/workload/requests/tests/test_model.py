"""A model of requests: what was drawn from one is found again."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest

from iostrata.errors import UserError
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.requests.model import Observed, RecordedRequest, gaps_of, model_of
from iostrata_lab.workload.requests.presets import SPOTIFY

SECOND = 10**9
TOTALS = {
    "open": (700, 0), "stat": (200, 0), "list": (70, 0), "create": (20, 0), "append": (10, 0),
    "read": (1400, 700 * 4096), "write": (30, 30 * 1000),
}  # fmt: skip


def _requests(gaps: list[float]) -> list[RecordedRequest]:
    """A read of one of 40 files after each of these gaps, each in a thread of its own."""
    starts = accumulate(gaps, initial=0.0)
    return [
        RecordedRequest(int(at * SECOND), 1000, "open", f"/f{i % 40}", (1, i))
        for i, at in enumerate(starts)
    ]


def _seen(gaps: list[float], asked: int = 1000) -> Observed:
    others = sum(TOTALS[op][0] for op in ("stat", "list", "create", "append"))
    return Observed(_requests(gaps), TOTALS | {"open": (asked - others, 700 * 4096)})


def test_poisson_arrivals_of_a_rate() -> None:
    draw = random.Random(1)
    found = model_of(_seen([draw.expovariate(50) for _ in range(999)]))
    assert found.rate == pytest.approx(50, rel=0.1)
    said = found.settings()
    assert said["arrivals"] == "poisson"
    assert said["mix"] == "read:700,stat:200,list:70,create:20,append:10"
    assert (said["read_size"], said["write_size"]) == ("4096", "1000")
    assert (said["files"], float(said["zipf"])) == ("40", 0.0)
    assert (found.session, found.think, found.kept) == (1.0, 0.0, 1000)


def test_two_phases_are_found() -> None:
    """Nine of ten gaps of 10 ms, the others of 1 s: means as drawn, within a tenth."""
    draw = random.Random(1)
    means = [0.01 if draw.random() < 0.9 else 1.0 for _ in range(5000)]
    said = model_of(_seen([draw.expovariate(1 / mean) for mean in means], 5001)).settings()
    assert said["arrivals"] == "hyperexponential"
    assert float(said["phase_share"]) == pytest.approx(0.9, abs=0.02)
    assert float(said["phase_first"]) == pytest.approx(0.01, rel=0.1)
    assert float(said["phase_second"]) == pytest.approx(1, rel=0.1)


def test_a_thread_has_sessions_with_pauses() -> None:
    """A request each 0.1 s, after each third one 2 s of nothing."""
    gaps = [2.0 if i % 3 == 0 else 0.1 for i in range(1, 90)]
    whole = [
        RecordedRequest(one.start, SECOND // 20, one.op, one.target, (1, 7))
        for one in _requests(gaps)
    ]
    seen = Observed(whole, {"open": (90, 0)})
    found = model_of(seen, pause=1.0)
    assert found.session == 3
    assert found.think == pytest.approx(0.05)
    assert model_of(seen).session == 1


def test_where_a_half_was_kept_gaps_are_half_as_long() -> None:
    seen = _seen([0.5] * 499)  # 500 of 1000
    assert gaps_of(seen) == pytest.approx([0.25] * 499)
    assert model_of(seen).rate == pytest.approx(999 / 249.5)


def test_the_generator_takes_the_settings() -> None:
    draw = random.Random(2)
    said = model_of(_seen([draw.expovariate(50) for _ in range(999)])).settings()
    given = values(SPOTIFY.parameters, [f"{name}={value}" for name, value in said.items()])
    assert given["files"] == 40


def test_too_few_requests_are_one_line() -> None:
    with pytest.raises(UserError, match="3 requests to HDFS were kept, 20 are needed"):
        model_of(_seen([1.0, 1.0]))
