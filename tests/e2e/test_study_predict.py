"""A study of predictions on a real disk that is braked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata_lab.predict.jobs import JOBS
from iostrata_lab.predict.order import PredictOrder
from iostrata_lab.predict.paper import PREDICT_PAPER
from iostrata_lab.predict.programs import PROGRAMS
from iostrata_lab.predict.storages import STORAGES
from iostrata_lab.predict.study import SHARED_MEMORY, perform_predictions
from iostrata_lab.workload.parameters import values

FEW: dict[str, Sequence[str | int]] = {
    "access": ["sequential"],
    "request": ["64KiB", "128KiB"],
    "clients": [1, 2],
    "cache": ["dropped"],
}
GIVEN = ["text=40MB", "size=32MB", "disk=80MB", "sample=0.2", "clusters="]


def order(store: Path) -> PredictOrder:
    study = replace(
        PREDICT_PAPER,
        programs=PROGRAMS[:1],
        storages=(replace(STORAGES[0], dimensions=FEW),),
    )
    return PredictOrder(study, values(study.parameters, GIVEN, 1.0), 1, 1, store)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have nodes")
def test_a_program_is_predicted_and_then_measured(tmp_path: Path) -> None:
    said: list[str] = []
    asked = order(tmp_path)
    found, [sample] = perform_predictions(asked, said.append)
    assert sample.traced["traced"] >= 1
    [table] = found.tables
    assert [row[:2] for row in table.rows] == [["grep", "disk"]]
    at = [
        next(n for n, line in enumerate(said) if text in line)
        for text in ("profile", "recorded", "repeat 1")
    ]
    assert at == sorted(at)  # nothing is measured before it is predicted
    assert not list(SHARED_MEMORY.glob(f"iostrata-{asked.called}*"))
    # what is there is taken
    said.clear()
    again, _ = perform_predictions(asked, said.append)
    assert (again.tables, said) == (found.tables, [])


@pytest.mark.cluster
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have nodes")
def test_a_job_is_predicted_and_then_measured(tmp_path: Path) -> None:
    said: list[str] = []
    study = replace(PREDICT_PAPER, programs=(), storages=(), jobs=JOBS[1:])
    given = ["clusters=1", "input=1MiB", "maps=1"]
    asked = PredictOrder(study, values(study.parameters, given, 1.0), 1, 1, tmp_path)
    found, [sample] = perform_predictions(asked, said.append)
    assert sample.traced["traced"] == sample.traced["processes"]
    [table] = found.tables
    assert [row[:3] for row in table.rows] == [
        ["wordcount", "1", "20 MB/s"], ["wordcount", "1", "40 MB/s"],
    ]  # fmt: skip
    assert ["recorded" in line for line in said] == [True, False, False]


def test_who_is_not_root_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="only root can"):
        perform_predictions(order(tmp_path), print)
