"""What `mix-reduce` asks for, and what it says of numbers made by hand."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from iostrata_lab.mix.reduce import COPY, IOR, MIX_REDUCE, SORT
from iostrata_lab.mix.result import MixDocument, MixedProgram
from iostrata_lab.mix.tests.test_paper import NOISE, mixed, program
from iostrata_lab.studies.interface import ClaimVerdict
from iostrata_lab.workload.parameters import values

VALUES = values(MIX_REDUCE.parameters, [])
AGREES, DIFFERS, UNKNOWN = ClaimVerdict.agrees, ClaimVerdict.differs, ClaimVerdict.unknown
SIZE = 128 << 20


def made(network: float, temporary: list[int]) -> MixDocument:
    like = mixed()

    def job(name: str, network: float, temporary: list[int]) -> MixedProgram:
        moved = [round(network * one) for one in NOISE]
        return replace(program(name, 40, 1.5), network_alone=moved, temporary_alone=temporary)

    labs = [
        replace(
            like.labs[0], lab="study-x", together=name + IOR, programs=[one, program(IOR, 20, 1.4)]
        )
        for name, one in (
            (SORT, job(SORT, network, temporary)),
            (COPY, job(COPY, 3e8, [0] * len(temporary))),
        )
    ]
    return replace(like, labs=labs)


@pytest.mark.parametrize(
    ("network", "temporary", "verdicts"),
    [
        (6e8, [3 * SIZE] * 3, [AGREES, AGREES]),
        (3e8, [SIZE] * 3, [DIFFERS, UNKNOWN]),
        (2e8, [], [UNKNOWN, DIFFERS]),
        (0, [3 * SIZE] * 3, [AGREES, UNKNOWN]),
    ],
)
def test_what_a_phase_of_reduces_moves(
    network: float, temporary: list[int], verdicts: list[ClaimVerdict]
) -> None:
    outcome = MIX_REDUCE.conclude(made(network, temporary), VALUES)
    assert [claim.verdict for claim in outcome.claims] == verdicts
    assert [row[1] for row in outcome.tables[-1].rows] == ["sort", "sort without reduces"]


def test_the_input_is_as_large_as_asked_for() -> None:
    """RandomTextWriter writes so many bytes by each of as many maps as these go into the whole."""
    said = MIX_REDUCE.plan(VALUES, 1).setup
    total, each = (
        int(re.search(rf"randomtextwriter\.{name}=(\d+)", said)[1])  # type: ignore[index]
        for name in ("totalbytes", "bytespermap")
    )
    assert total == SIZE
    assert total // each == VALUES["maps"]
    assert total - each * (total // each) < 10


def test_both_jobs_read_the_same() -> None:
    plan = MIX_REDUCE.plan(VALUES, 1)
    assert "Sort -r 2 " in plan.commands[SORT]
    assert plan.commands[COPY] == plan.commands[SORT].replace("-r 2", "-r 0")
    assert "$HADOOP_MIX_SHARED/in" in plan.setup
