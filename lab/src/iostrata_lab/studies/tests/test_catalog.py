from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.records import builtins
from iostrata_lab.studies.catalog import STUDIES
from iostrata_lab.studies.interface import Study
from iostrata_lab.studies.runner import StudyOrder, plan
from iostrata_lab.workload.parameters import values


def asked(study: Study, *given: str, repeats: int = 1) -> StudyOrder:
    chosen = values(study.parameters, given)
    return StudyOrder(study, chosen, 1, repeats, "2 DataNodes", Path("/nowhere"))


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_each_says_what_it_is_and_plans_runs_that_workloads_allow(study: Study) -> None:
    assert STUDIES.named(study.name) is study
    said = json.loads(json.dumps(builtins(study.answer())))
    assert said["differences"]
    assert study.source.startswith(("S1: ", "S2: "))
    planned = plan(asked(study))
    assert planned
    assert len({one.name for one in planned}) == len(planned)
    for one in planned:
        one.order.workload.check  # noqa: B018 - it is a workload


def test_names_are_one_study_each() -> None:
    with pytest.raises(UserError, match="no study is called 'function'"):
        STUDIES.named("function")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("functions", "jobs=wordcount,pi", "jobs: no job pi"),
        ("functions", "jobs=,", "',' is no list"),
        ("compression", "jobs=sort,sort", "'sort,sort' is no list"),
        ("functions", "size=1MB", "size=1048576 is not allowed"),
        ("requests", "alphas=0.1,fast", "alphas: fast is no number"),
        ("requests", "alphas=0.00001", "alphas: 0.00001 × base=1000 requests/s × duration=30 s"),
        ("requests", "client=both", "client=both is not allowed"),
        ("creation", "steps=1", "steps=1 is not allowed"),
        ("layers", "maps=0", "maps=0 is not allowed"),
    ],
)
def test_the_impossible_is_one_line(name: str, given: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        plan(asked(STUDIES.named(name), given))
    assert refused.value.message.startswith(said)


def test_sizes_go_down_from_the_largest_by_a_factor() -> None:
    given = ("size=1MB", "factor=4", "steps=3")
    planned = plan(asked(STUDIES.named("creation"), *given))
    assert [one.order.values["size"] for one in planned] == [1 << 16, 1 << 18, 1 << 20]
    # what would be below what WordCount takes is as large as that, once
    few = plan(asked(STUDIES.named("creation"), "size=2KB", "factor=16", "steps=4"))
    assert [one.order.values["size"] for one in few] == [1 << 10, 2 << 10]


def test_jobs_have_one_size() -> None:
    planned = plan(asked(STUDIES.named("functions"), "size=4MB"))
    sizes = {one.wanted.label: one.order.values for one in planned}
    assert sizes["terasort"]["rows"] == (4 << 20) // 100
    assert sizes["wordcount"]["size"] == 4 << 20
    written = sizes["testdfsio-write"]
    assert (written["size"], written["files"], written["mode"]) == (2 << 20, 2, "write")
