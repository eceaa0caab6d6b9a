"""Waiting ends, and a machine that stood still has not waited."""

from __future__ import annotations

import pytest

from iostrata.patience import Patience


def test_a_pause_of_the_machine_takes_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    patience = Patience(1)
    looks = []
    for passed in (0.25, 3600, 0.125, 0.25):
        now += passed
        looks.append(patience.lasts())
    assert looks == [True, True, True, False]
