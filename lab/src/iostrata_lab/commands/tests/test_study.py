"""Studies as a user asks for them; no cluster is needed where all runs are there already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostrata.cli.tests.test_commands import iostrata
from iostrata.store.tests.made import START, make_run, row_of_sum
from iostrata_lab.mix.catalog import MIX_STUDIES
from iostrata_lab.predict.catalog import PREDICT_STUDIES
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.runner import NOTES, StudyOrder, plan
from iostrata_lab.workload.parameters import values

SECOND = 10**9


def test_studies_are_listed_and_described(tmp_path: Path) -> None:
    listed = iostrata(tmp_path, "study", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [
        "study",
        *STUDIES,
        *MIX_STUDIES,
        *PREDICT_STUDIES,
    ]
    assert (
        json.loads(iostrata(tmp_path, "study", "list", "--json").stdout)[0]["name"] == "functions"
    )
    said = iostrata(tmp_path, "study", "describe", "layers").stdout
    assert "after: S1: Feng et al." in said
    assert "of the text (scaled)" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("function",), "no study is called 'function' · one of functions, creation, "),
        (("layers", "--set", "sizes=1"), "no parameter sizes · size, maps"),
        (("functions", "--set", "jobs=pi"), "jobs: no job pi · teragen, "),
        (("layers", "--out", "/dev/null/x"), "/dev/null/x: Not a directory · name another folder"),
        (("layers", "--lab", "nowhere"), "no lab 'nowhere'"),
        (("mix-paper", "--lab", "any"), "mix-paper has labs of its own · leave out --lab"),
        (("predict-paper", "--lab", "any"), "predict-paper has labs of its own · leave out"),
    ],
)
def test_what_cannot_work_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = iostrata(tmp_path, "study", "run", *words, "--quiet")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"iostrata: {said}")


def test_a_study_of_recorded_runs_needs_no_cluster_and_keeps_what_it_found(tmp_path: Path) -> None:
    # GIVEN the run that the study wants, of a lab that is gone
    store, out = tmp_path / "store", tmp_path / "out"
    study = STUDIES.named("layers")
    chosen = values(study.parameters, ["maps=1"])
    (planned,) = plan(StudyOrder(study, chosen, 1, 1, "lab gone", store))
    second = {"start": START + SECOND, "dur": SECOND}
    events = [
        row_of_sum("record", "write", role="map", count=30, **second),
        row_of_sum("fs", "write", role="map", category="hdfs", bytes=3000, **second),
        row_of_sum("java", "write", role="DataNode", category="blk", bytes=3100, **second),
    ]
    make_run(store, planned.name, events, [])
    (store / NOTES).mkdir()
    (store / NOTES / f"{planned.name}.json").write_text('{"result": {"asked_bytes": 3000}}')
    # WHEN it is asked for
    words = ("study", "run", "layers", "--set", "maps=1", "--lab", "gone", "--out", str(out))
    done = iostrata(store, *words)
    # THEN
    assert done.returncode == 0, done.stderr
    assert f"taken from {planned.name}" in done.stderr
    assert "agrees: MapReduce makes more requests" in done.stdout
    found = json.loads((out / "layers.json").read_text())
    assert found["samples"][0]["result"] == {"asked_bytes": 3000}
    assert "layers.svg" in (out / "layers.md").read_text()
    assert (out / "layers.svg").read_text().startswith("<svg ")
    # AND programs get the same
    assert json.loads(iostrata(store, *words[:-2], "--json", "-q").stdout) == found
