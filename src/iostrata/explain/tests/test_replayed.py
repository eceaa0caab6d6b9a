"""Gains that a replay of the run says, where it can be replayed with what a finding advises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.explain.finding import Finding
from iostrata.explain.verdict import explanation
from iostrata.replay import fitted
from iostrata.replay.settings import REDUCES, setting
from iostrata.replay.tests.made import EVENTS, JOB, MAP, MB, REDUCE, SYSTEM, attempt, opened
from iostrata.replay.whatif import what_if
from iostrata.store.tests.made import SECOND, START, row_of_sum

WORK = [
    row_of_sum("task", "copy", task=REDUCE, job=JOB, role="reduce", proc=2, host="node", span=11,
               start=START, bytes=80 * MB),
    row_of_sum("task", "run", task=MAP, job=JOB, role="map", proc=1, host="node", span=12,
               start=START, timed_dur=4 * SECOND),
    row_of_sum("task", "run", task=REDUCE, job=JOB, role="reduce", proc=2, host="node", span=13,
               start=START, timed_dur=5 * SECOND),
]  # fmt: skip

# the reduce begins when two maps have ended, and nothing waits for disks
PROCESSES = [
    attempt("map", 1, MAP, 1, 5),
    attempt("map", 4, "attempt_1_0001_m_000001_0", 1, 5),
    attempt("reduce", 2, REDUCE, 5, 9),
]
WHOLE: dict[str, Any] = {
    "events": [*EVENTS, *WORK],
    "processes": PROCESSES,
    "system": [{**row, "io_pressure": 0} for row in SYSTEM],
}


def found(folder: Path, **tables: Any) -> Finding:
    """What is found in a job whose only reduce works alone for four of ten seconds."""
    with opened(folder, **{**WHOLE, **tables}) as run:
        (first, *_) = explanation(run).findings
    assert first.rule == "one-reduce"
    return first


def test_a_gain_is_what_a_replay_with_the_change_saves(tmp_path: Path) -> None:
    finding = found(tmp_path / "a")
    assert finding.gain
    assert finding.gain.replayed == "2 reduces"
    with opened(tmp_path / "b", **WHOLE) as run:
        saves = what_if(run, [setting(f"{REDUCES}=2")]).gain
    # each of them has half of the two seconds of work, and starts for as long, beside the other
    assert saves == pytest.approx(0.1)
    assert finding.gain.low == pytest.approx(0.1 - fitted.OFF_GAIN)
    assert finding.gain.high == pytest.approx(0.1 + fitted.OFF_GAIN)


def test_a_run_that_cannot_be_replayed_has_the_gain_of_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = found(tmp_path / "a", usages=None)
    assert finding.gain
    assert finding.gain.replayed == ""
    assert (finding.gain.low, finding.gain.high) == (finding.share / 2, finding.share)
    # AND so has one whose replays would take too long
    monkeypatch.setattr(fitted, "MOST_SECONDS", 0.0)
    assert found(tmp_path / "b").gain == finding.gain
