"""What `mix-locality` asks for, and what it says of numbers made by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from iostrata_lab.mix.figures import of_pairs
from iostrata_lab.mix.locality import IOR, LABS, LOCAL, MIX_LOCALITY, REMOTE
from iostrata_lab.mix.result import MixDocument
from iostrata_lab.mix.tests.test_paper import NOISE, mixed, program
from iostrata_lab.studies.interface import ClaimVerdict
from iostrata_lab.workload.parameters import values

VALUES = values(MIX_LOCALITY.parameters, [])
AGREES, DIFFERS, UNKNOWN = ClaimVerdict.agrees, ClaimVerdict.differs, ClaimVerdict.unknown


def on_two_labs(far: float, near_share: float | None, far_share: float | None) -> MixDocument:
    """A job that takes 40 s at its input, and `far` s away from it."""
    like = mixed()
    made = [
        replace(
            like.labs[0],
            lab=lab.lab,
            together=name + IOR,
            programs=[program(name, alone, 1.5, share), program(IOR, 20, 1.4)],
            in_turn=of_pairs([(0.8 * one, 1.0) for one in NOISE]),
        )
        for lab in LABS
        for name, alone, share in ((LOCAL, 40, near_share), (REMOTE, far, far_share))
    ]
    return replace(like, labs=made)


@pytest.mark.parametrize(
    ("far", "near_share", "far_share", "verdicts"),
    [
        (60, 1.0, 0.0, [AGREES, AGREES, AGREES]),
        (40, 1.0, 0.0, [AGREES, UNKNOWN, UNKNOWN]),
        (30, 0.6, 0.0, [DIFFERS, DIFFERS, DIFFERS]),
        (60, None, None, [UNKNOWN, AGREES, AGREES]),
    ],
)
def test_where_the_input_is_may_be_faster_slower_or_no_matter(
    far: float,
    near_share: float | None,
    far_share: float | None,
    verdicts: list[ClaimVerdict],
) -> None:
    claims = MIX_LOCALITY.conclude(on_two_labs(far, near_share, far_share), VALUES).claims
    assert [claim.verdict for claim in claims] == verdicts * 2


def test_each_job_is_beside_the_checkpoint() -> None:
    plan = MIX_LOCALITY.plan(VALUES, 1)
    assert list(plan.together) == ["AC", "BC"]
    assert "-Dfs.posix.locality=local " in plan.commands[LOCAL]
    assert "-Dfs.posix.locality=remote " in plan.commands[REMOTE]
    assert "locality" not in plan.setup
    assert [lab.lab for lab in MIX_LOCALITY.labs] == [
        "study-moosefs-local", "study-cephfs-local",
    ]  # fmt: skip
