"""A study records what it needs once; the runs here are made instead of recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostrata.errors import UserError
from iostrata.store.tests.made import make_run, row_of_sum
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import StudyRun
from iostrata_lab.studies.runner import StudyOrder, perform, plan
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.runner import WorkloadOrder, WorkloadResult

CREATION = STUDIES.named("creation")


class Recorder:
    """Makes a run that created as many file systems as its input has MB."""

    def __init__(self, store: Path, breaks_at: int = -1) -> None:
        self.store = store
        self.breaks_at = breaks_at
        self.names: list[str] = []

    def __call__(self, order: WorkloadOrder, run: str) -> WorkloadResult:
        state = "interrupted" if len(self.names) == self.breaks_at else "ok"
        self.names.append(run)
        size = int(order.values["size"])
        made = row_of_sum("fs", "connect", role="map", count=size >> 20, timed_dur=size)
        make_run(self.store, run, [made, row_of_sum("fs", "write", role="map")], [], state=state)
        if state == "interrupted":
            raise KeyboardInterrupt
        return result_of(order, size)


def result_of(order: WorkloadOrder, size: int) -> WorkloadResult:
    return WorkloadResult(order.workload.name, {}, 1, None, 0.0, 0.0, {"asked_bytes": size})


def request(store: Path, repeats: int = 1, seed: int = 1, cluster: str = "here") -> StudyOrder:
    chosen = values(CREATION.parameters, ["size=4MB", "factor=2", "steps=2"])
    return StudyOrder(CREATION, chosen, seed, repeats, cluster, store)


def test_every_other_round_goes_backwards(tmp_path: Path) -> None:
    planned = plan(request(tmp_path, repeats=3))
    labels = [(one.repeat, one.wanted.label) for one in planned]
    assert labels == [
        (1, "2.0 MiB"), (1, "4.0 MiB"),
        (2, "4.0 MiB"), (2, "2.0 MiB"),
        (3, "2.0 MiB"), (3, "4.0 MiB"),
    ]  # fmt: skip


def test_runs_are_named_by_all_that_makes_them_what_they_are(tmp_path: Path) -> None:
    def names(**changed: Any) -> set[str]:
        return {one.name for one in plan(request(tmp_path, **changed))}

    assert names() == names()
    assert names(repeats=2) > names()
    assert not names() & names(seed=2)
    assert not names() & names(cluster="there")


def test_what_is_recorded_is_measured_and_not_recorded_again(tmp_path: Path) -> None:
    record, said = Recorder(tmp_path), list[str]()
    samples = perform(request(tmp_path, repeats=2), record, said.append)
    assert len(record.names) == 4
    assert [(one.label, one.repeat) for one in samples] == [
        ("2.0 MiB", 1), ("2.0 MiB", 2), ("4.0 MiB", 1), ("4.0 MiB", 2),
    ]  # fmt: skip
    assert samples[0] == StudyRun(
        "2.0 MiB", 1, record.names[0], "2023-11-14T22:13:20+00:00", 3.0, {"asked_bytes": 2 << 20},
        {"map": {"calls": 2, "time": 2 << 20}}, samples[0].traced,
    )  # fmt: skip
    assert said[0] == f"1/4 2.0 MiB, repeat 1: recorded as {record.names[0]}"

    again = Recorder(tmp_path)
    assert perform(request(tmp_path, repeats=2), again, said.append) == samples
    assert again.names == []
    assert said[-1] == f"4/4 2.0 MiB, repeat 2: taken from {record.names[3]}"


def test_an_interrupted_study_goes_on_where_it_was(tmp_path: Path) -> None:
    broken = Recorder(tmp_path, breaks_at=1)
    with pytest.raises(KeyboardInterrupt):
        perform(request(tmp_path), broken, lambda _: None)
    record = Recorder(tmp_path)
    samples = perform(request(tmp_path), record, lambda _: None)
    # the run that was not ended keeps its name
    assert record.names == [f"{broken.names[1]}.2"]
    assert [one.run for one in samples] == [broken.names[0], f"{broken.names[1]}.2"]


def test_a_run_that_fails_is_not_taken(tmp_path: Path) -> None:
    def fails(order: WorkloadOrder, run: str) -> WorkloadResult:
        raise UserError("no space")

    with pytest.raises(UserError, match="no space"):
        perform(request(tmp_path), fails, lambda _: None)
    record = Recorder(tmp_path)
    perform(request(tmp_path), record, lambda _: None)
    assert len(record.names) == 2


def test_a_run_in_which_nothing_was_traced_is_not_taken(tmp_path: Path) -> None:
    def records(order: WorkloadOrder, run: str) -> WorkloadResult:
        make_run(tmp_path, run, [], [])
        return result_of(order, 1)

    with pytest.raises(UserError, match="has no events"):
        perform(request(tmp_path), records, lambda _: None)
    record = Recorder(tmp_path)
    perform(request(tmp_path), record, lambda _: None)
    assert len(record.names) == 2
