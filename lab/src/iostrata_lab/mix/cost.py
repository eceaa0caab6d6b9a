"""What recording costs the same programs (S4, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from iostrata_lab.mix.figures import Ratio
from iostrata_lab.mix.page import cost_table, ratio_text
from iostrata_lab.mix.paper import CALLED, HADOOP, TFIDF, plan
from iostrata_lab.mix.programs import ON_ONE_MACHINE, PAPER_PARAMETERS
from iostrata_lab.mix.result import MixDocument, TracingCost
from iostrata_lab.mix.study import CEPHFS, MOOSEFS, MixPlan, MixStudy
from iostrata_lab.studies.figure import bars
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome
from iostrata_lab.workload.parameters import Value

# What tracing added to the time of TF-IDF alone; of IOR "most within 0.3 MB/s".
PAPER = {(HADOOP, TFIDF): 1.026, (CEPHFS.lab, TFIDF): 1.054}
NONE = 1.005  # of IOR: 0.3 of some 60 MB/s
MOST_CPU, MOST_BYTES = 1.01, 6.0  # what we want


def _plan(values: Mapping[str, Value], seed: int) -> MixPlan:
    return replace(plan(values, seed), cost=True)


def _conclude(found: MixDocument, _: Mapping[str, Value]) -> Outcome:
    alone = [one for one in found.costs if one.cpu is not None]
    claims = [claim for one in alone for claim in _of_program(one)]
    groups = [
        (
            f"{CALLED[one.program]} on {one.lab}",
            [("untraced", sum(one.bare) / len(one.bare)),
             ("recorded", sum(one.recorded) / len(one.recorded))],
        )
        for one in alone
    ]  # fmt: skip
    figure = bars("Time of a program alone", "s", groups)
    return Outcome([cost_table(found.costs, CALLED)], claims, figure)


def _of_program(one: TracingCost) -> list[Claim]:
    who = f"{CALLED[one.program]} on {one.lab}"
    expected = PAPER.get((one.lab, one.program), NONE)
    size = f"{one.bytes_per_call:.1f}"
    fits = one.bytes_per_call <= MOST_BYTES
    claims = [
        _at_most(
            f"tracing makes {who} take at most {expected:g} times as long", one.time, expected
        ),
        Claim(
            f"ours: at most {MOST_BYTES:g} bytes a call in the trace of {who}",
            ClaimVerdict.agrees if fits else ClaimVerdict.differs,
            f"{size} bytes",
        ),
    ]
    if one.cpu is not None:
        says = f"ours: recording {who} takes at most {MOST_CPU - 1:.0%} of CPU more"
        claims.append(_at_most(says, one.cpu, MOST_CPU))
    return claims


def _at_most(says: str, of: Ratio, most: float) -> Claim:
    """No verdict where chance alone leaves room for both."""
    told = ratio_text(of)
    if of.low is None or of.high is None or of.low <= most < of.high:
        return Claim(says, ClaimVerdict.unknown, told)
    return Claim(says, ClaimVerdict.agrees if of.high <= most else ClaimVerdict.differs, told)


MIX_COST = MixStudy(
    name="mix-cost",
    about="what recording costs a Hadoop job and a checkpoint, alone and together",
    source="S4: Molina-Estolano et al., PDSW 2009, section 4",
    differences=(
        "each trial is run recorded and untraced, in random order; CPU is the whole machine's",
        *ON_ONE_MACHINE[:-1],
    ),
    parameters=PAPER_PARAMETERS,
    labs=(MOOSEFS, CEPHFS),
    plan=_plan,
    conclude=_conclude,
)
