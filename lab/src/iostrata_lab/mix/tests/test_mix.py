"""Order, overlap and intervals of trials; real programs that run at the same time."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from iostrata_lab.mix.figures import Ratio, in_turn, of_pairs, overlap, ratio
from iostrata_lab.mix.schedule import trials
from iostrata_lab.mix.together import Repetition, Side, Together


def always() -> bool:
    return True


def test_each_repeat_has_each_trial_once_in_an_order_of_its_own() -> None:
    found = trials(5, ["moosefs", "cephfs"], ["A", "B", "AB"], seed=1)
    assert Counter((one.programs, one.lab) for one in found) == {
        (programs, lab): 5 for programs in ("A", "B", "AB") for lab in ("moosefs", "cephfs")
    }
    orders = {
        tuple((one.programs, one.lab) for one in found[at : at + 6]) for at in range(0, 30, 6)
    }
    assert len(orders) > 1
    assert trials(5, ["moosefs", "cephfs"], ["A", "B", "AB"], seed=1) == found
    assert {one.key for one in trials(1, [], ["A", "AB"], 1, cost=True)} == {
        "here-1-A", "here-1-AB", "here-1-A-bare", "here-1-AB-bare",
    }  # fmt: skip


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    chance = random.Random(3)
    held = of_pairs_held = 0
    for _ in range(400):
        alone = [chance.lognormvariate(0, 0.1) for _ in range(5)]
        both = [1.5 * chance.lognormvariate(0, 0.2) for _ in range(5)]
        held += _holds(ratio(both, alone), 1.5)
        of_pairs_held += _holds(of_pairs(list(zip(both, alone, strict=True))), 1.5)
    assert 0.92 <= held / 400 <= 0.98
    assert 0.92 <= of_pairs_held / 400 <= 0.98


def _holds(found: Ratio, truth: float) -> bool:
    assert found.low is not None
    assert found.high is not None
    return found.low <= truth <= found.high


def test_few_trials_have_no_interval() -> None:
    one = ratio([3.0], [2.0])
    assert one.value == pytest.approx(1.5)
    assert (one.low, one.trials, one.says) == (None, 1, 0)
    alike = ratio([2.0, 2.0], [1.0, 1.0])
    assert alike.value == pytest.approx(2.0)
    assert alike.low is None
    assert of_pairs([(3.0, 2.0)]).low is None
    assert ratio([3.0, 3.1, 3.2], [1.0, 1.1, 1.2]).says == 1
    assert ratio([1.0, 1.1, 1.2], [3.0, 3.1, 3.2]).says == -1


def test_together_is_compared_with_the_same_work_one_after_the_other() -> None:
    # nobody is in the other's way; each takes half of what there is; one takes all of it
    assert in_turn([(10, 10), (2, 2)]) == 0.5
    assert in_turn([(10, 20), (2, 4)]) == 1.0
    assert in_turn([(10, 30), (2, 6)]) == 1.5
    # in 20 s together one is done, and the other ten times
    assert in_turn([(10, 20), (1, 2)]) == 20 / (10 + 10 * 1)


def test_what_overlaps() -> None:
    one = [Repetition(0, 4, 0), Repetition(4, 9, 0)]
    assert overlap("A", {"A": one, "B": [Repetition(1, 2, 0), Repetition(2, 3, 0)]}) == 0.5
    assert overlap("A", {"A": one, "B": [Repetition(-1, 9, 0)]}) == 1.0
    others = {"B": [Repetition(-1, 9, 0)], "C": [Repetition(3, 9, 0)]}
    assert overlap("A", {"A": one, **others}) == 0.25


def test_the_shorter_one_runs_again_until_the_longer_one_has_ended(tmp_path: Path) -> None:
    said = tmp_path / "said"
    long = Side("long", f"sleep 1; echo $IOSTRATA_PART >> {said}", tmp_path / "long.log")
    command = f"sleep 0.2; echo $IOSTRATA_PART $NUMBER >> {said}"
    short = Side("short", command, tmp_path / "short.log", lambda number: {"NUMBER": str(number)})
    Together([long, short], os.environ).run(always)
    assert len(long.repetitions) == 1
    assert len(short.repetitions) >= 2
    assert {one.code for one in short.repetitions} == {0}  # the last one came to its end
    assert short.repetitions[-1].end > long.repetitions[0].end
    sides = {"long": long.repetitions, "short": short.repetitions}
    assert overlap("long", sides) > 0.8
    lines = [line for line in said.read_text().splitlines() if line != "long"]
    again = [f"short again {number}" for number in range(1, len(short.repetitions))]
    assert lines == ["short 0", *again]


def test_one_that_fails_ends_the_other(tmp_path: Path) -> None:
    bad = Side("bad", "sleep 0.1; echo why >&2; exit 3", tmp_path / "bad.log")
    good = Side("good", "sleep 60", tmp_path / "good.log")
    Together([bad, good], os.environ).run(always)
    assert [(one.code, one.was_ended) for one in bad.repetitions] == [(3, False)]
    assert good.repetitions[0].was_ended
    assert (tmp_path / "bad.log").read_text() == "why\n"


def test_one_that_cannot_be_started_ends_the_other(tmp_path: Path) -> None:
    def broken(_: int) -> dict[str, str]:
        raise OSError(28, "No space left on device")

    bad = Side("A", "true", tmp_path / "a.log", broken)
    good = Side("B", "sleep 60", tmp_path / "b.log")
    with pytest.raises(OSError, match="No space left"):
        Together([bad, good], os.environ).run(always)
    assert all(one.was_ended for one in good.repetitions)  # none, if it had not begun


def test_all_are_ended_when_somebody_asks_for_it(tmp_path: Path) -> None:
    began = [tmp_path / name for name in "AB"]
    sides = [
        Side(path.name, f"touch {path}; sleep 60", tmp_path / f"{path.name}.log") for path in began
    ]
    # once both have begun
    assert Together(sides, os.environ).run(lambda: not all(map(Path.exists, began))) < 30
    assert [one.was_ended for side in sides for one in side.repetitions] == [True, True]
