from __future__ import annotations

from itertools import product

import msgspec
import pytest

from iostrata.progress import Progress, silent
from iostrata.replay import fitted as module
from iostrata.replay.alternative import changed
from iostrata.replay.choices import Choices, Combination, choices
from iostrata.replay.fitted import OFF, Replays
from iostrata.replay.fitting import fits
from iostrata.replay.hardware import containers, faster_disks
from iostrata.replay.jobs import RecordedJobs
from iostrata.replay.schedule import replay
from iostrata.replay.tests.twins import cluster, recording, sort

SECOND = 10**9


def choices_of(recorded: RecordedJobs, progress: Progress = silent) -> Choices:
    return choices(Replays(lambda: recorded), progress)


@pytest.fixture(scope="module")
def recorded() -> RecordedJobs:
    return recording(sort(maps=4))


@pytest.fixture(scope="module")
def found(recorded: RecordedJobs) -> Choices:
    return choices_of(recorded)


def chosen(found: Choices, **values: str) -> Combination:
    """The combination with these values, and the recorded ones of other dimensions."""
    wanted = tuple(values.get(one.name, one.values[one.recorded]) for one in found.dimensions)
    every = list(product(*(one.values for one in found.dimensions)))
    assert len(every) == len(found.choices)
    return found.choices[every.index(wanted)]


def test_each_dimension_says_which_value_is_recorded(found: Choices) -> None:
    assert [(one.name, one.values, one.values[one.recorded]) for one in found.dimensions] == [
        ("disks", ["0.5x", "1x", "2x", "4x"], "1x"),
        ("containers", ["2", "4", "8"], "4"),
        ("copies", ["1", "2"], "2"),  # two hosts: a third copy has no place
        ("cores", ["1x", "2x"], "1x"),
    ]
    assert found.dimensions[0].assumes == faster_disks("2x").assumes


def test_values_as_recorded_take_as_long_as_the_run(found: Choices) -> None:
    same = chosen(found)
    assert (same.predicted, same.low, same.high) == (found.recorded,) * 3
    assert found.replayed == pytest.approx(found.recorded, rel=0.03)


def test_changes_are_made_together(found: Choices, recorded: RecordedJobs) -> None:
    changes = [faster_disks("2x"), containers(2)]
    fitted = fits(recorded)
    walls = [recorded.wall * replay(changed(one, changes)).wall / replay(one).wall
             for one in fitted]  # fmt: skip
    choice = chosen(found, disks="2x", containers="2")
    assert choice.predicted == pytest.approx(walls[0] * SECOND, abs=2)
    assert choice.low == pytest.approx(min(walls) * SECOND / (1 + OFF), abs=2)
    assert choice.high == pytest.approx(max(walls) * SECOND * (1 + OFF), abs=2)


def test_the_path_of_each_combination_is_its_time(found: Choices) -> None:
    for choice in found.choices:
        assert sum(choice.path) == pytest.approx(choice.predicted, abs=len(found.parts))
        assert len(choice.path) == len(found.parts)
    assert found.roles == ["map", "reduce"]
    assert chosen(found, disks="4x").roles < chosen(found, disks="0.5x").roles


def test_what_cannot_be_changed_has_no_slider() -> None:
    jobs = sort(maps=2, containers=3)
    bare = [msgspec.structs.replace(one, parts=tuple(
        msgspec.structs.replace(part, hdfs={}) for part in one.parts))
        for one in jobs.attempts]  # fmt: skip
    job = msgspec.structs.replace(jobs.jobs[0], attempts=tuple(bare))
    unlike = msgspec.structs.replace(
        cluster(containers=3), machines={"one": "a", "two": "b"}, cores={"a": 2.0, "b": 8.0}
    )
    jobs = RecordedJobs(0.0, 1.0, (job,), unlike, None)
    found = choices_of(recording(jobs))
    assert [(one.name, one.values) for one in found.dimensions] == [("containers", ["3", "6"])]


def test_too_many_attempts_are_not_replayed() -> None:
    jobs = sort(maps=199)
    found = choices_of(msgspec.structs.replace(jobs, wall=60.0))
    assert (found.recorded, found.choices, found.dimensions) == (60 * SECOND, [], [])
    assert found.missing.startswith("the run has 201 attempts, and more than 200 take too long")
    assert "`iostrata what-if`" in found.missing


def test_replays_that_take_too_long_are_not_made(
    recorded: RecordedJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    found = choices_of(recorded)
    assert found.choices == []
    assert "would take too long" in found.missing


def test_progress_goes_from_begin_to_end(recorded: RecordedJobs) -> None:
    parts: list[float] = []

    def said(step: str, part: float = 0.0) -> None:
        assert step == "what if"
        parts.append(part)

    choices_of(recorded, said)
    assert parts == sorted(parts)
    assert 0 <= parts[0] < 0.1 < 0.9 < parts[-1] < 1
