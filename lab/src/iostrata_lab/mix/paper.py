"""A Hadoop job and a checkpoint on two file systems, alone and together (S4, Figs. 1 to 3)."""

from __future__ import annotations

from collections.abc import Mapping

from iostrata_lab.mix.figures import Ratio
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
from iostrata_lab.mix.result import MixDocument
from iostrata_lab.mix.study import CEPHFS, MOOSEFS, MixPlan, MixStudy
from iostrata_lab.mix.tables import Pictured, local
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome
from iostrata_lab.workload.parameters import Value

TFIDF, N_1, N_N = "A", "B", "C"
CALLED = {TFIDF: "TF-IDF", N_1: "IOR N-1", N_N: "IOR N-N"}
HADOOP, HPC = MOOSEFS.lab, CEPHFS.lab  # the paper's CloudStore and PVFS
# What a program takes beside another one, times what it takes alone: "about a third" less
# bandwidth, "about a fourth", "half", "only marginally".
PAPER = {
    (HADOOP, TFIDF, N_1): 1.5,
    (HADOOP, TFIDF, N_N): 1.5,
    (HADOOP, N_1, N_1): 1.5,
    (HADOOP, N_N, N_N): 1.33,
    (HPC, TFIDF, N_1): 1.0,
    (HPC, TFIDF, N_N): 1.0,
    (HPC, N_1, N_1): 2.0,
    (HPC, N_N, N_N): 2.0,
}
CLOSE = 1.15  # times what the paper has, or it divided by that
WIDE = 2.0  # an interval whose ends are further apart says nothing


def plan(values: Mapping[str, Value], seed: int) -> MixPlan:
    """Each checkpoint beside the job."""
    job = tfidf(values, seed)
    return MixPlan(
        commands={
            TFIDF: classify(job),
            N_1: checkpoint(values, "strided"),
            N_N: checkpoint(values, "n-n"),
        },
        setup=tfidf_setup(job),
        together=(TFIDF + N_1, TFIDF + N_N),
    )


def _conclude(found: MixDocument, values: Mapping[str, Value]) -> Outcome:
    written = written_by_ranks(values)
    sizes = {TFIDF: read_by_tfidf(values), N_1: written, N_N: written}
    pictured = Pictured(found, CALLED, sizes)
    claims = [*_slowdowns(pictured), _concurrent(pictured), *_localities(found)]
    return Outcome(pictured.tables(), claims, pictured.figure())


def _slowdowns(pictured: Pictured) -> list[Claim]:
    claims = []
    for one in pictured.found.labs:
        other = one.together.replace(TFIDF, "")
        for each in one.programs:
            expected = PAPER[one.lab, each.name, other]
            beside = pictured.beside(one, each.name)
            of_paper = "CloudStore" if one.lab == HADOOP else "PVFS"
            claims.append(
                Claim(
                    f"{CALLED[each.name]} beside {beside} on {of_paper} takes {expected:g} times "
                    "as long",
                    _close(each.slowdown, expected),
                    f"on {one.lab} {ratio_text(each.slowdown)}",
                )
            )
    return claims


def _close(of: Ratio, expected: float) -> ClaimVerdict:
    """Agrees where its interval has what is expected, or it is close to that."""
    if of.low is None or of.high is None or of.high > WIDE * of.low:
        return ClaimVerdict.unknown
    holds = of.low <= expected <= of.high or 1 / CLOSE <= of.value / expected <= CLOSE
    return ClaimVerdict.agrees if holds else ClaimVerdict.differs


def _concurrent(pictured: Pictured) -> Claim:
    labs = pictured.found.labs
    sooner = all(one.in_turn.says < 0 for one in labs)
    later = any(one.in_turn.says > 0 for one in labs)
    told = ", ".join(
        f"{pictured.together(one)} on {one.lab} {one.in_turn.value:.2f}" for one in labs
    )
    verdicts = ClaimVerdict
    return Claim(
        "in all cases both together take less time than one after the other",
        verdicts.agrees if sooner else verdicts.differs if later else verdicts.unknown,
        f"times of what the same work takes one after the other: {told}",
    )


def _localities(found: MixDocument) -> list[Claim]:
    claims = []
    for lab, of_paper, says in (
        (HADOOP, "CloudStore", "none alone, 95 of 114 beside IOR"),
        (HPC, "PVFS", "92 of 114 alone, none beside IOR"),
    ):
        shares = [
            local(each)
            for one in found.labs
            if one.lab == lab
            for each in one.programs
            if each.name == TFIDF
        ]
        known = [
            f"{alone:.0%} alone, {beside:.0%} beside"
            for alone, beside in shares
            if alone is not None and beside is not None
        ]
        claims.append(
            Claim(
                f"data-local maps of TF-IDF on {of_paper}: {says}",
                ClaimVerdict.differs if known else ClaimVerdict.unknown,
                f"on {lab} "
                + (", ".join(known) if known else "nobody names nodes of a block")
                + "; the paper leaves the cause to future work",
            )
        )
    return claims


MIX_PAPER = MixStudy(
    name="mix-paper",
    about="a Hadoop job and an HPC checkpoint on one file system, alone and together",
    source="S4: Molina-Estolano et al., PDSW 2009, section 5.1, Figs. 1 to 3",
    differences=(
        "MooseFS stands for CloudStore and CephFS for PVFS, both with chunks of 64 MB as there: "
        "neither of the paper's is packaged any more",
        *ON_ONE_MACHINE,
    ),
    parameters=PAPER_PARAMETERS,
    labs=(MOOSEFS, CEPHFS),
    plan=plan,
    conclude=_conclude,
)
