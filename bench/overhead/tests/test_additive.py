"""The arithmetic of the account on numbers that are known."""

from __future__ import annotations

from typing import Any

import pytest
from bench.overhead.additive import Costs, account, call_costs


def subject(ns: float, detail: float, summed: float, hot: float) -> dict[str, Any]:
    calls = {"detail": detail, "summed": summed, "hot": hot}
    return {"calls_per_byte": calls, "added_ns_per_byte": {"estimate": ns}}


def test_costs_are_told_apart_by_subjects_that_mix_them() -> None:
    # 100 ns a call kept, 10 ns a hot one, 20 ns a summed one.
    found, notes = call_costs(
        [
            subject(100e-4 + 10e-5, 1e-4, 0, 1e-5),
            subject(100e-6 + 10e-2, 1e-6, 0, 1e-2),
            subject(20e-4, 0, 1e-4, 0),
        ]
    )
    assert found == pytest.approx({"detail": 100, "summed": 20, "hot": 10})
    assert notes == []


def test_a_mode_that_was_not_seen_is_taken_for_the_dearest() -> None:
    found, notes = call_costs([subject(1e-2, 1e-4, 0, 0), subject(1e-1, 0, 0, 1e-2)])
    assert found == pytest.approx({"detail": 100, "hot": 10, "summed": 100})
    assert notes == ["no subject had calls of mode summed: taken for the dearest"]


def test_with_two_subjects_what_is_kept_and_what_is_summed_has_one_cost() -> None:
    found, notes = call_costs([subject(2e-2, 1e-4, 1e-4, 0), subject(1e-1, 1e-6, 2e-6, 1e-2)])
    assert found == pytest.approx({"detail": 100, "summed": 100, "hot": 9.97})
    assert notes == ["calls kept and calls summed could not be told apart: one cost for both"]


def test_modes_that_always_come_together_have_the_mean() -> None:
    found, notes = call_costs([subject(2e-3, 1e-5, 0, 1e-5), subject(4e-3, 2e-5, 0, 2e-5)])
    assert found == pytest.approx({"detail": 100, "hot": 100, "summed": 100})
    assert notes == ["modes could not be told apart: every call has the mean cost"]


def test_noise_below_nothing_is_no_gain() -> None:
    found, _ = call_costs([subject(-1e-3, 1e-4, 0, 0), subject(1e-1, 0, 0, 1e-2)])
    assert found["detail"] == 0


def test_nothing_counted_is_said() -> None:
    assert call_costs([]) == ({}, ["the toggle counted no calls"])


def test_an_account_adds_up() -> None:
    run = {
        "job": "TeraSort",
        "megabytes": 64,
        "collector_cpu_s": 0.25,
        "trace": {
            "jvms": 5,
            "calls": {
                "java": {"detail": 1_000_000, "summed": 0, "hot": 0},
                "record": {"detail": 0, "summed": 500_000, "hot": 10_000_000},
            },
        },
    }
    costs = Costs({"detail": 200, "summed": 100, "hot": 10}, start_s=0.1, recorder_s=0.5)
    found = account(run, 40.0, costs)
    assert found["parts"] == pytest.approx(
        {
            "detail_s": 0.2,
            "summed_s": 0.05,
            "hot_s": 0.1,
            "starts_s": 0.5,
            "collector_s": 0.25,
            "recorder_s": 0.5,
        }
    )
    assert found["added_s"] == pytest.approx(1.6)
    assert found["share"] == pytest.approx(0.04)
    assert found["layer_s"] == pytest.approx({"java": 0.2, "record": 0.15})
