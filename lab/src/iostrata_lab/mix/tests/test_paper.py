"""What `mix-paper` asks for, and what it says of numbers made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from iostrata_lab.mix.figures import Ratio, of_pairs, ratio
from iostrata_lab.mix.paper import HADOOP, HPC, MIX_PAPER, N_1, N_N, TFIDF
from iostrata_lab.mix.result import MixDocument, MixedProgram, MixOnLab
from iostrata_lab.studies.interface import ClaimVerdict
from iostrata_lab.studies.page import text
from iostrata_lab.workload.parameters import values

VALUES = values(MIX_PAPER.parameters, [])
NOISE = (0.98, 1.0, 1.02)  # of repeats


def program(name: str, alone: float, slowdown: float, local: float | None = None) -> MixedProgram:
    times = [alone * one for one in NOISE]
    beside = [alone * slowdown * one for one in reversed(NOISE)]
    return MixedProgram(
        name=name, command="", alone=times, together=beside, slowdown=ratio(beside, times),
        overlap=1.0, repetitions=[1, 1, 1], again=None, data_local_alone=local,
        data_local_together=local,
    )  # fmt: skip


def on_lab(lab: str, other: str, of_job: float, of_ior: float, in_turn: float) -> MixOnLab:
    return MixOnLab(
        lab=lab, together=TFIDF + other,
        programs=[
            program(TFIDF, 40, of_job, 0.5 if lab == HADOOP else None),
            program(other, 20, of_ior),
        ],
        in_turn=of_pairs([(in_turn * one, 1.0) for one in NOISE]),
        resources=[], collision=None, operations=[], layers={}, series=[], runs=[],
    )  # fmt: skip


def mixed(in_turn: float = 0.8) -> MixDocument:
    return MixDocument(
        name="x", commands={}, setup="", prepare="", repeats=3, trials=30, seed=1, recorded=True,
        budget="1%", dropped=True,
        labs=[
            on_lab(HADOOP, N_1, 1.5, 1.4, in_turn),
            on_lab(HADOOP, N_N, 3.0, 1.3, in_turn),
            on_lab(HPC, N_1, 1.05, 2.1, in_turn),
            on_lab(HPC, N_N, 1.6, 2.0, in_turn),
        ],
        incomplete=[],
    )  # fmt: skip


def test_slowdowns_are_held_against_those_of_the_paper() -> None:
    outcome = MIX_PAPER.conclude(mixed(), VALUES)
    verdicts = {claim.says: claim.verdict for claim in outcome.claims}
    agrees, differs = ClaimVerdict.agrees, ClaimVerdict.differs
    assert verdicts == {
        "TF-IDF beside IOR N-1 on CloudStore takes 1.5 times as long": agrees,
        "IOR N-1 beside TF-IDF on CloudStore takes 1.5 times as long": agrees,
        "TF-IDF beside IOR N-N on CloudStore takes 1.5 times as long": differs,
        "IOR N-N beside TF-IDF on CloudStore takes 1.33 times as long": agrees,
        "TF-IDF beside IOR N-1 on PVFS takes 1 times as long": agrees,
        "IOR N-1 beside TF-IDF on PVFS takes 2 times as long": agrees,
        "TF-IDF beside IOR N-N on PVFS takes 1 times as long": differs,
        "IOR N-N beside TF-IDF on PVFS takes 2 times as long": agrees,
        "in all cases both together take less time than one after the other": agrees,
        "data-local maps of TF-IDF on CloudStore: none alone, 95 of 114 beside IOR": differs,
        "data-local maps of TF-IDF on PVFS: 92 of 114 alone, none beside IOR":
            ClaimVerdict.unknown,
    }  # fmt: skip
    said = "\n".join(text(MIX_PAPER, outcome, []))
    assert "Bandwidth: bytes of a program over its time" in said
    assert outcome.figure.startswith("<svg")


@pytest.mark.parametrize(
    ("in_turn", "verdict"),
    [(0.8, ClaimVerdict.agrees), (1.0, ClaimVerdict.unknown), (1.3, ClaimVerdict.differs)],
)
def test_together_is_held_against_one_after_the_other(
    in_turn: float, verdict: ClaimVerdict
) -> None:
    claims = MIX_PAPER.conclude(mixed(in_turn), VALUES).claims
    (claim,) = [one for one in claims if one.says.startswith("in all cases")]
    assert claim.verdict == verdict


def test_the_mix_is_each_checkpoint_beside_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = tmp_path / "jobs.jar"  # that of java/jobs may not be built yet
    jobs.touch()
    monkeypatch.setenv("IOSTRATA_JOBS", str(jobs))
    order = MIX_PAPER.order(VALUES, 5, 1, tmp_path)
    assert order.labs == [HADOOP, HPC]
    assert list(order.together) == ["AB", "AC"]
    assert len(order.trials) == 5 * 2 * 5
    job, n_1, n_n = order.commands
    assert "classify $HADOOP_MIX_OWN" in job
    assert "generate $HADOOP_MIX_SHARED/w" in order.setup
    written = int(VALUES["written"])
    assert f"--set block={64 << 20} --set segments={written // (64 << 20)}" in n_1
    assert f"--set block={written} --set segments=1 " in n_n


def test_a_mix_on_other_disks_is_another_one() -> None:
    slow = values(MIX_PAPER.parameters, ["disk=1MB"])
    names = [
        MIX_PAPER.order(given, 5, seed, Path()).called
        for given, seed in ((VALUES, 1), (VALUES, 1), (VALUES, 2), (slow, 1))
    ]
    assert len(set(names)) == 3
    assert names[0] == names[1]


def test_an_interval_that_holds_everything_says_nothing() -> None:
    found = mixed()
    (first, *others) = found.labs
    wild = Ratio(1.5, 0.8, 2.9, 3)
    job = replace(first.programs[0], slowdown=wild)
    labs = [replace(first, programs=[job, first.programs[1]]), *others]
    claims = MIX_PAPER.conclude(replace(found, labs=labs), VALUES).claims
    assert claims[0].verdict is ClaimVerdict.unknown
