"""A job whose reduces fetch what its maps wrote to local disks, beside one without (S4, S4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from iostrata_lab.mix.figures import ratio
from iostrata_lab.mix.page import ratio_text
from iostrata_lab.mix.programs import (
    CHECKPOINT_PARAMETERS,
    ON_ONE_MACHINE,
    checkpoint,
    written_by_ranks,
)
from iostrata_lab.mix.result import MixDocument, MixedProgram
from iostrata_lab.mix.study import CEPHFS, MOOSEFS, MixPlan, MixStudy
from iostrata_lab.mix.tables import Pictured, beyond_chance, by_lab
from iostrata_lab.studies.interface import Claim, ClaimVerdict, Outcome, Table
from iostrata_lab.workload.parameters import BYTES, Parameter, Value

SORT, COPY, IOR = "A", "B", "C"
CALLED = {SORT: "sort", COPY: "sort without reduces", IOR: "IOR N-1"}
MOST_ALIKE = 0.05  # of the input: what a job without reduces keeps in local files
_JOB = "hadoop org.apache.hadoop.examples"
_MB = 1e6


def _plan(values: Mapping[str, Value], _: int) -> MixPlan:
    size, maps = int(values["input"]), int(values["maps"])
    # rounded down: Hadoop divides again, and rounds down to the number of maps
    options = {"totalbytes": size, "bytespermap": size // maps}
    said = " ".join(f"-Dmapreduce.randomtextwriter.{name}={options[name]}" for name in options)
    text = "org.apache.hadoop.io.Text"
    sort = f"-outKey {text} -outValue {text} $HADOOP_MIX_SHARED/in $HADOOP_MIX_OWN/out"
    return MixPlan(
        commands={
            SORT: f"{_JOB}.Sort -r {values['reduces']} {sort}",
            COPY: f"{_JOB}.Sort -r 0 {sort}",
            IOR: checkpoint(values, "strided"),
        },
        setup=f"{_JOB}.RandomTextWriter {said} $HADOOP_MIX_SHARED/in",
        together=(SORT + IOR, COPY + IOR),
    )


def _conclude(found: MixDocument, values: Mapping[str, Value]) -> Outcome:
    size = float(values["input"])
    sizes = {SORT: size, COPY: size, IOR: written_by_ranks(values)}
    pictured = Pictured(found, CALLED, sizes)
    jobs = {lab: (programs[SORT], programs[COPY]) for lab, programs in by_lab(found).items()}
    claims = [
        claim
        for lab, (sort, copy) in jobs.items()
        for claim in (_traced(lab, sort, copy, size), _network(lab, sort, copy))
    ]
    moved = Table("What jobs move alone", ["on", "job", "through networks of nodes, MB",
                  "local temporary files, MB"], _moved(jobs), names=2)  # fmt: skip
    return Outcome([*pictured.tables(), moved], claims, pictured.figure())


def _moved(jobs: Mapping[str, Sequence[MixedProgram]]) -> list[list[str]]:
    return [
        [lab, CALLED[each.name], *(
            f"{fmean(values) / _MB:.1f}" if values else ""
            for values in (each.network_alone, each.temporary_alone)
        )]
        for lab, both in jobs.items()
        for each in both
    ]  # fmt: skip


def _traced(lab: str, sort: MixedProgram, copy: MixedProgram, size: float) -> Claim:
    says = f"on {lab}, what maps and reduces keep in local temporary files is in the trace"
    if not sort.temporary_alone or not copy.temporary_alone:
        return Claim(says, ClaimVerdict.unknown, "nothing was recorded")
    kept = [fmean(one.temporary_alone) for one in (sort, copy)]
    # each byte of the input is written by a map at least, and read by whom it is for
    holds = kept[0] >= 2 * size and kept[1] <= MOST_ALIKE * size
    verdict = ClaimVerdict.agrees if holds else ClaimVerdict.differs
    told = "{:.1f} MB of {:.1f} MB of input; without reduces {:.1f} MB"
    return Claim(says, verdict, told.format(kept[0] / _MB, size / _MB, kept[1] / _MB))


def _network(lab: str, sort: MixedProgram, copy: MixedProgram) -> Claim:
    says = f"on {lab}, a phase of reduces takes more of the network"
    if not all((*sort.network_alone, *copy.network_alone)):
        return Claim(says, ClaimVerdict.unknown, "no bytes were counted")
    found = ratio(sort.network_alone, copy.network_alone)
    told = f"{ratio_text(found)} times the bytes of the same job without"
    return Claim(says, beyond_chance(found), told)


MIX_REDUCE = MixStudy(
    name="mix-reduce",
    about="a Hadoop job with reduces and the same without, alone and beside a checkpoint",
    source="S4: Molina-Estolano et al., PDSW 2009, sections 3.2 and 6, future work",
    differences=(
        "the paper could not trace local temporary files, and names such jobs as future work",
        "Sort of Hadoop's examples: without reduces it copies its input",
        "MooseFS and CephFS with chunks of 64 MB; local files are on the disk of their node",
        *ON_ONE_MACHINE,
    ),
    parameters=(
        Parameter("input", "bytes that are sorted", 128 << 20, BYTES, low=1 << 20, high=1 << 40,
                  scaled=True),
        Parameter("maps", "that write the input", 3, low=1, high=10_000),
        Parameter("reduces", "of the job", 2, low=1, high=10_000),
        *CHECKPOINT_PARAMETERS,
    ),
    labs=(MOOSEFS, CEPHFS),
    plan=_plan,
    conclude=_conclude,
)  # fmt: skip
