"""What `mix-cost` asks for, and what it says of numbers made by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from iostrata_lab.mix.cost import MIX_COST
from iostrata_lab.mix.figures import ratio
from iostrata_lab.mix.page import markdown
from iostrata_lab.mix.paper import HADOOP, N_1, TFIDF
from iostrata_lab.mix.result import TracingCost
from iostrata_lab.mix.tests.test_paper import NOISE, mixed
from iostrata_lab.studies.interface import ClaimVerdict
from iostrata_lab.workload.parameters import values

VALUES = values(MIX_COST.parameters, [])
AGREES, DIFFERS, UNKNOWN = ClaimVerdict.agrees, ClaimVerdict.differs, ClaimVerdict.unknown


def cost(program: str, times: float, cpu: float, size: float, noise: float = 0.001) -> TracingCost:
    near = [1 + noise * (one - 1) for one in NOISE]
    bare, recorded = [10 * one for one in near], [10 * times * one for one in reversed(near)]
    used = [20 * cpu * one for one in near]
    return TracingCost(
        lab=HADOOP, together=program, program=program, bare=bare, recorded=recorded,
        time=ratio(recorded, bare), cpu_bare=[20 * one for one in near], cpu_recorded=used,
        cpu=ratio(used, [20 * one for one in near]), bytes_per_call=size,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "verdicts"),
    [
        (cost(TFIDF, 1.02, 1.005, 5.9), [AGREES, AGREES, AGREES]),
        (cost(TFIDF, 1.10, 1.09, 6.1), [DIFFERS, DIFFERS, DIFFERS]),
        (cost(N_1, 1.02, 1.005, 1.0), [DIFFERS, AGREES, AGREES]),
        (cost(TFIDF, 1.02, 1.005, 5.9, noise=2.0), [UNKNOWN, AGREES, UNKNOWN]),
    ],
)
def test_what_is_within_noise_has_no_verdict(
    made: TracingCost, verdicts: list[ClaimVerdict]
) -> None:
    outcome = MIX_COST.conclude(replace(mixed(), costs=[made]), VALUES)
    assert [claim.verdict for claim in outcome.claims] == verdicts
    (row,) = outcome.tables[0].rows
    assert row[:2] == [HADOOP, "TF-IDF" if made.program == TFIDF else "IOR N-1"]


def test_the_page_of_a_mix_has_what_recording_costs() -> None:
    assert MIX_COST.plan(VALUES, 1).cost
    page = markdown(replace(mixed(), costs=[cost("A", 1.02, 1.0, 5)]), "iostrata mix")
    assert "## What recording costs: recorded beside untraced" in page
    assert "half of them recorded with a budget of 1%" in page
