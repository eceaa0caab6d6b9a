"""What follows from the parameters of a replay, and what they are told when nothing can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostrata.errors import UserError
from iostrata.progress import silent
from iostrata.records import builtins
from iostrata_lab.workload.cluster import ClusterClient
from iostrata_lab.workload.interface import Context
from iostrata_lab.workload.parameters import values
from iostrata_lab.workload.swim.asked import PARAMETERS, plan
from iostrata_lab.workload.swim.fitting import fitted
from iostrata_lab.workload.swim.replay import check, stored
from iostrata_lab.workload.swim.trace import read


def asked(*given: str, scale: float = 1.0, seed: int = 1) -> Context:
    """Of no cluster: a plan asks none."""
    said = values(PARAMETERS, given, scale)
    return Context(said, seed, ClusterClient({}), "/folder", Path("/scratch"), silent, "tag")


def test_the_default_is_the_first_50_jobs() -> None:
    made, outages = plan(asked())
    assert (len(made.jobs), outages) == (50, 0)
    assert [job.name for job in made.jobs] == [f"job{i}" for i in range(50)]
    assert sum(job.reduces == 0 for job in made.jobs) == 18  # 36 % are map-only
    assert stored(asked()) == sum(made.files) + made.total[2]


def test_scale_is_of_bytes_alone() -> None:
    once, more = plan(asked())[0], plan(asked(scale=4))[0]
    assert more.total[2] // 4 == once.total[2]
    assert [job.at for job in more.jobs] == [job.at for job in once.jobs]


def test_a_part_of_a_trace() -> None:
    made, outages = plan(asked("trace=fb-2009", "first=2740", "jobs=10", "time_scale=1"))
    assert [job.name for job in made.jobs] == [f"job{i}" for i in range(2739, 2749)]
    assert outages == 2
    gap = made.jobs[4].at - made.jobs[3].at  # 3710 s in the trace
    assert gap == 0


def test_only_jobs_of_a_kind() -> None:
    made, _ = plan(asked("trace=fb-2009", "only=shuffle-heavy", "jobs=5"))
    assert [job.shuffle > max(job.input, job.output) for job in made.jobs] == [True] * 5


def test_a_preset_of_s3() -> None:
    """1 TB by a millionth of one kind, a byte of the others, 1 s apart, one input."""
    made, _ = plan(
        asked("preset=shuffle-heavy", "jobs=3", "data_scale=1e-6", "time_scale=1", "split=1MB")
    )
    assert [(job.at, job.file, job.input, job.shuffle, job.output) for job in made.jobs] == [
        (0, 0, 1, 10**6, 1),
        (1000, 0, 1, 10**6, 1),
        (2000, 0, 1, 10**6, 1),
    ]
    assert made.files == (1,)


def test_jobs_from_a_fit(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(builtins(fitted("fb-2009", read("fb-2009")).answer())))
    made, _ = plan(asked(f"fit={path}", "jobs=20"))
    assert len(made.jobs) == 20
    assert made == plan(asked(f"fit={path}", "jobs=20"))[0]
    assert made != plan(asked(f"fit={path}", "jobs=20", seed=2))[0]
    later, _ = plan(asked(f"fit={path}", "jobs=15", "first=6"))
    assert [job.name for job in later.jobs] == [job.name for job in made.jobs[5:]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("trace=nowhere.tsv",), "nowhere.tsv: No such file"),
        (("fit=nowhere.json",), "nowhere.json: No such file"),
        (("first=51",), "first=51 is not in fb-2009-first50"),
        (("preset=map-heavy", "fit=x.json"), "preset=map-heavy goes with neither fit nor only"),
        (("jobs=1", "only=shuffle-heavy", "first=50"), "only=shuffle-heavy leaves no job"),
        (("data_scale=1000", "split=1KB"), "job0 would have 2284728 maps"),
    ],
)
def test_what_is_impossible(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError) as raised:
        check(asked(*given))
    assert said in raised.value.message
    assert raised.value.remedy
