"""Mean delays of functions of HDFS by the rate of requests (S2, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from iostrata.analyse.engine import DuckDb
from iostrata.analyse.latencies import latencies
from iostrata.analyse.summary import drawn
from iostrata.analyse.tables import SUMS
from iostrata.errors import UserError
from iostrata.records import Ns, Record
from iostrata.store.opened import OpenedRun
from iostrata.text import percent
from iostrata_lab.studies.figure import Panel, panels
from iostrata_lab.studies.interface import (
    Claim,
    ClaimVerdict,
    Outcome,
    Row,
    Study,
    StudyRun,
    Table,
    Wanted,
)
from iostrata_lab.studies.samples import by_label, listed
from iostrata_lab.workload.parameters import Parameter, Value

# The paper's functions and our names for them.
FUNCTIONS = {
    "createFileSystem": "fs.connect",
    "sendBlock": "datanode.send_block",
    "sendPacket": "datanode.send_packet",
    "getBlockLocations": "namenode.locate",
}
_CREATE = "createFileSystem"
TOTAL = "total"
PAPER = {
    "0.001": (0.1567, 0.0054, 0.0005, 0.0088, 0.0423),
    "0.005": (0.1842, 0.0026, 0.0004, 0.0006, 0.0439),
    "0.01": (0.1827, 0.0020, 0.0002, 0.0005, 0.0426),
    "0.05": (0.2060, 0.0012, 0.0001, 0.0003, 0.0648),
    "0.1": (0.1887, 0.0009, 0.0001, 0.0007, 0.0801),
    "0.5": (0.1992, 0.0015, 0.0002, 0.0014, 0.0674),
}  # s
_STEADY = 2.0  # the largest of some values at most so many times the smallest
_CLEAR = 1.25  # an end is above the least by more than what repeats differ by


def _plan(values: Mapping[str, Value]) -> Sequence[Wanted]:
    base, duration = float(values["base"]), float(values["duration"])
    found = []
    for alpha in listed(str(values["alphas"])):
        try:
            requests = float(alpha) * base * duration
        except ValueError:
            raise UserError(f"alphas: {alpha} is no number", "say 0.001,0.01,0.1") from None
        if not requests >= 1:
            raise UserError(
                f"alphas: {alpha} × base={base:g} requests/s × duration={duration:g} s are "
                f"{requests:g} requests",
                "ask for more: base, duration",
            )
        given = (
            f"alpha={alpha}",
            f"base={base}",
            f"duration={duration}",
            f"client={values['client']}",
            "warmup=0",  # the paper's cold start is part of what is measured
        )
        found.append(Wanted(f"{float(alpha):g}", "requests-alicloud", given))
    return found


class _Longest(Record, frozen=True):
    layer: str
    op: str
    longest: Ns | None


def _measure(opened: OpenedRun) -> Row:
    """Calls, mean, median and the longest in ns of each of FUNCTIONS, by the paper's name."""
    times = {f"{row.layer}.{row.op}": row for row in latencies(opened, drawn(opened))}
    most = SUMS.group_by("layer", "op").agg(longest=SUMS["max"].max())
    rows = DuckDb(opened).records(most, _Longest)
    longest = {f"{row.layer}.{row.op}": row.longest for row in rows}
    return {
        name: {
            **{key: getattr(times[ours], key) for key in ("calls", "mean", "p50")},
            "longest": longest[ours],
        }
        for name, ours in FUNCTIONS.items()
        if ours in times
    }


def _mean(sample: StudyRun, name: str, statistic: str = "mean") -> float:
    """Seconds; 0 where the function was not called."""
    if name == TOTAL:
        return float(sample.result[f"service_ms_{statistic}"]) / 1e3
    return float(sample.measured.get(name, {}).get(statistic, 0)) / 1e9


def _conclude(samples: Sequence[StudyRun]) -> Outcome:
    groups = by_label(samples)
    names = (*FUNCTIONS, TOTAL)
    means = {
        name: [median(_mean(one, name) for one in of) for of in groups.values()] for name in names
    }
    columns = ["function", *(f"α = {label}" for label in groups)]
    longest = [median(_mean(one, _CREATE, "longest") for one in of) for of in groups.values()]
    measured = [[name, *map(_ms, means[name])] for name in names]
    papers = [
        [name, *(f"{1e3 * PAPER[label][at]:.1f}" if label in PAPER else "" for label in groups)]
        for at, name in enumerate(names)
    ]
    measured.append([f"{_CREATE}, the longest", *map(_ms, longest)])
    tables = [
        Table("Mean delay in ms; medians over repeats", columns, measured),
        Table("The paper's Table 1, in ms", columns, papers),
        _medians(groups, columns),
        _load(groups),
    ]
    alphas = [float(label) for label in groups]
    lines = {name: list(zip(alphas, means[name], strict=True)) for name in names}
    title = "Mean delay by the rate of requests"
    figure = panels(title, [Panel("mean delay, s", "α, times the base", lines, log=True)])
    return Outcome(tables, _claims(means, longest), figure)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f}" if seconds < 0.01 else f"{1e3 * seconds:.1f}"


def _medians(groups: Mapping[str, Sequence[StudyRun]], columns: Sequence[str]) -> Table:
    rows = [
        [name, *(_ms(median(_mean(one, name, "p50") for one in of)) for of in groups.values())]
        for name in (*FUNCTIONS, TOTAL)
    ]
    return Table("The median call of each in ms: without the few that come first", columns, rows)


def _load(groups: Mapping[str, Sequence[StudyRun]]) -> Table:
    """What was asked and what was done: a run that did not keep up says so."""
    keys = ("asked_per_s", "achieved_per_s", "completed", "failed", "not_started")
    rows = [
        [label, *(f"{median(float(one.result[key]) for one in of):.0f}" for key in keys)]
        for label, of in groups.items()
    ]
    columns = ["α", "asked/s", "achieved/s", "completed", "failed", "not started"]
    return Table("Requests", columns, rows)


def _claims(means: Mapping[str, Sequence[float]], longest: Sequence[float]) -> list[Claim]:
    falling = [_falls_then_rises(name, means[name]) for name in FUNCTIONS if name != _CREATE]
    return [_steady(means[_CREATE], longest), *falling, _mainly(means), _client(means)]


def _steady(mean: Sequence[float], longest: Sequence[float]) -> Claim:
    says = "createFileSystem matters, and takes as long whatever the rate (0.157 s to 0.206 s)"
    least, most = min(longest), max(longest)
    steady = 0 < most <= _STEADY * least
    why = (
        f"the longest, as a rule the first of the JVM and so that of a client that is a process, "
        f"takes {least:.3f} s to {most:.3f} s; the mean falls from {max(mean):.4f} s to "
        f"{min(mean):.4f} s, as later ones in the same JVM find its classes loaded"
    )
    return Claim(says, ClaimVerdict.agrees if steady else ClaimVerdict.differs, why)


def _falls_then_rises(name: str, values: Sequence[float]) -> Claim:
    says = f"{name} becomes faster with the rate (cold start), then slower (contention)"
    least = min(range(len(values)), key=lambda at: values[at])
    ends = (values[0], values[-1])
    inner = all(end >= _CLEAR * values[least] for end in ends)
    told = " → ".join(f"{values[at] * 1e3:.2f}" for at in sorted({0, least, len(values) - 1}))
    return Claim(
        says,
        ClaimVerdict.agrees if inner else ClaimVerdict.differs,
        f"{told} ms: first, least, last",
    )


def _shares(means: Mapping[str, Sequence[float]], *names: str) -> list[float]:
    """Of a request, one call of each of these; 0 where no request was done."""
    together = [sum(values) for values in zip(*(means[name] for name in names), strict=True)]
    return [
        delay / total if total else 0.0 for delay, total in zip(together, means[TOTAL], strict=True)
    ]


def _mainly(means: Mapping[str, Sequence[float]]) -> Claim:
    shares = _shares(means, "sendBlock")
    verdict = ClaimVerdict.agrees if min(shares) > 0.5 else ClaimVerdict.differs
    theirs = [row[1] / row[-1] for row in PAPER.values()]
    why = (
        f"a sendBlock takes {_range(shares)} of a request here, and {_range(theirs)} in the "
        "paper's own table"
    )
    return Claim("the delay of a request is mainly caused by sendBlock", verdict, why)


def _client(means: Mapping[str, Sequence[float]]) -> Claim:
    shares = _shares(means, "sendBlock", "getBlockLocations")
    verdict = ClaimVerdict.agrees if max(shares) < 0.5 else ClaimVerdict.differs
    why = f"one sendBlock and one getBlockLocations are {_range(shares)} of a request"
    return Claim("the bottleneck is neither in NameNode nor in DataNode", verdict, why)


def _range(shares: Sequence[float]) -> str:
    return f"{percent(min(shares), 1)} to {percent(max(shares), 1)}"


REQUESTS = Study(
    name="requests",
    about="mean delays of functions of HDFS by the rate of requests: Table 1",
    source='S2: Liu et al., NPC 2018, section 3.2, "Impact of Request Frequency", Table 1',
    differences=(
        "the base rate of the paper and its fits of AliCloud are not published; `base` and "
        "the substitutes that `workload describe requests-alicloud` names stand in for them",
        "the clients of the paper are many processes on another machine; here each session "
        "makes a FileSystem of its own (`client`), all in one JVM on the machine of the "
        "cluster",
        "the paper does not define total; here it is the mean of a request from when a thread "
        "took it until it was done, with the creation of the session's FileSystem",
        "the rates run one after the other on the same daemons, every other repeat backwards",
    ),
    parameters=(
        Parameter("alphas", "factors for the base", ",".join(PAPER)),
        Parameter("base", "rate that the factors multiply",
                  1000.0, "requests/s", low=1e-3, high=1e6),
        Parameter("duration", "duration of each rate", 30.0, "s", low=1, high=1e6, scaled=True),
        Parameter("client", "a client of HDFS for each session, or one for all", "session",
                  choices=("session", "shared")),
    ),
    plan=_plan,
    measure=_measure,
    conclude=_conclude,
)  # fmt: skip
