"""The same job with its maps forced to their input, and away from it (S4, future work)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostrata_lab.mix.figures import ratio
from iostrata_lab.mix.page import ratio_text
from iostrata_lab.mix.programs import (
    ON_ONE_MACHINE,
    PAPER_PARAMETERS,
    checkpoint,
    classify,
    read_by_tfidf,
    tfidf,
    tfidf_setup,
    written_by_ranks,
)
from iostrata_lab.mix.result import MixDocument, MixedProgram
from iostrata_lab.mix.study import CEPHFS, MOOSEFS, MixPlan, MixStudy
from iostrata_lab.mix.tables import Pictured, beyond_chance, by_lab, local
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome
from iostrata_lab.workload.parameters import Value

LOCAL, REMOTE, IOR = "A", "B", "C"
CALLED = {LOCAL: "TF-IDF local", REMOTE: "TF-IDF remote", IOR: "IOR N-1"}
LABS = tuple(lab.held("local") for lab in (MOOSEFS, CEPHFS))
FORCED = 0.95  # part of the maps, or all but that


def _plan(values: Mapping[str, Value], seed: int) -> MixPlan:
    forced = {
        name: classify(tfidf(values, seed, f"-Dfs.posix.locality={where}"))
        for name, where in ((LOCAL, "local"), (REMOTE, "remote"))
    }
    return MixPlan(
        commands={**forced, IOR: checkpoint(values, "strided")},
        setup=tfidf_setup(tfidf(values, seed)),
        together=(LOCAL + IOR, REMOTE + IOR),
    )


def _conclude(found: MixDocument, values: Mapping[str, Value]) -> Outcome:
    read = read_by_tfidf(values)
    sizes = {LOCAL: read, REMOTE: read, IOR: written_by_ranks(values)}
    pictured = Pictured(found, CALLED, sizes)
    claims = [
        claim
        for lab, programs in by_lab(found).items()
        for claim in _of_lab(lab, programs[LOCAL], programs[REMOTE])
    ]
    return Outcome(pictured.tables(), claims, pictured.figure())


def _of_lab(lab: str, near: MixedProgram, far: MixedProgram) -> list[Claim]:
    return [
        _forced(lab, near, far),
        _faster(f"alone on {lab}, TF-IDF is faster where its input is", near.alone, far.alone),
        _faster(f"beside IOR on {lab}, too", near.together, far.together),
    ]


def _forced(lab: str, near: MixedProgram, far: MixedProgram) -> Claim:
    """What all else rests on."""
    says = f"on {lab} maps run where they are sent"
    shares = [*local(near), *local(far)]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return Claim(says, ClaimVerdict.unknown, "nobody names nodes of a block")
    holds = min(known[:2]) >= FORCED and max(known[2:]) <= 1 - FORCED
    told = "data-local alone and beside IOR: {:.0%} and {:.0%}, away from it {:.0%} and {:.0%}"
    verdict = ClaimVerdict.agrees if holds else ClaimVerdict.differs
    return Claim(says, verdict, told.format(*known))


def _faster(says: str, near: Sequence[float], far: Sequence[float]) -> Claim:
    found = ratio(far, near)
    told = f"away from it {ratio_text(found)} times as long"
    return Claim(says, beyond_chance(found), told)


MIX_LOCALITY = MixStudy(
    name="mix-locality",
    about="a Hadoop job with maps at their input and away from it, alone and beside a checkpoint",
    source="S4: Molina-Estolano et al., PDSW 2009, section 5.1, future work",
    differences=(
        "the paper names this as future work, and expects locality to explain a faster TF-IDF",
        "MooseFS and CephFS with chunks of 64 MB; every map has a block of its own",
        *ON_ONE_MACHINE[:-1],
    ),
    parameters=PAPER_PARAMETERS,
    labs=LABS,
    plan=_plan,
    conclude=_conclude,
)
