"""Which functions take longest, workload by workload (S2, section 3.2, "Across Workloads")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from iostrata.analyse.calltree.bottlenecks import bottlenecks
from iostrata.analyse.waiting import WAITING_OPERATIONS
from iostrata.schema.roles import HDFS_SERVERS
from iostrata.store.opened import OpenedRun
from iostrata.text import percent, seconds
from iostrata_lab.studies.figure import bars
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
from iostrata_lab.studies.jobs import PARAMETERS, jobs
from iostrata_lab.studies.samples import by_label
from iostrata_lab.workload.parameters import Value

# The paper's instrumentation: client, RPC, NameNode, DataNode, local files; not tasks or records.
LAYERS = ("fs", "hdfs", "rpc", "namenode", "datanode", "java")
# Its threads live as long as a block is written.
_LIVES = ("datanode.respond",)
CREATE, CLOSE, SEND = "fs.connect", "hdfs.close", "datanode.send_block"
# Their own time is waiting for the reader of a block: until its socket takes more
# (FileChannel#transferTo itself is java.transfer), and until it says that it has it all.
WAIT_FOR_READER = ("datanode.disk_transfer", "datanode.read_block")
LOCAL = ("datanode.write", "datanode.flush", "datanode.disk_flush", "datanode.disk_sync")
RANKS = ("total", "self")
TOP = 5
DRAWN = 3
# The paper's, of which it says the same; of Bayes it does not.
_SAME = ("wordcount", "sort", "terasort", "pagerank", "logistic", "nweight")
_OTHER = "bayes"
_LITTLE = 0.1

Ranked = Mapping[str, list[tuple[str, float]]]  # of each workload functions with ns, longest first


def _plan(values: Mapping[str, Value]) -> Sequence[Wanted]:
    return jobs(values)


def _measure(opened: OpenedRun) -> Row:
    """Per function total and self, in ns over all threads; own time of servers and of others.

    Both leave out waiting for a peer. What only waits is no function here.
    """
    functions: dict[str, Row] = {}
    sides = dict.fromkeys(("servers", "others"), 0)
    for row in bottlenecks(opened, "total").functions:
        if row.layer not in LAYERS or row.name in WAITING_OPERATIONS + _LIVES:
            continue
        measured = functions.setdefault(row.name, {"calls": 0, "total": 0, "self": 0})
        own = row.self - row.self_waiting
        total = row.total - row.self_waiting
        for key, value in (("calls", row.calls), ("total", total), ("self", own)):
            measured[key] += value
        sides["servers" if row.role in HDFS_SERVERS else "others"] += own
    return {"functions": functions, **sides}


def _ranked(samples: Sequence[StudyRun], by: str) -> list[tuple[str, float]]:
    """Functions and their medians over repeats, ns, the longest first."""
    names = sorted({name for one in samples for name in one.measured["functions"]})
    names = [name for name in names if by != "self" or name not in WAIT_FOR_READER]
    found = [(name, median(_time(one, name, by) for one in samples)) for name in names]
    return sorted(found, key=lambda pair: -pair[1])


def _time(sample: StudyRun, name: str, by: str) -> float:
    return float(sample.measured["functions"].get(name, {}).get(by, 0))


def _conclude(samples: Sequence[StudyRun]) -> Outcome:
    groups = by_label(samples)
    ranked = {by: {label: _ranked(of, by) for label, of in groups.items()} for by in RANKS}
    tables = [_table(by, ranked[by]) for by in RANKS]
    tables.append(_everywhere(ranked))
    shown = [
        (f"{label}, {by}", [(name, time / 1e9) for name, time in ranked[by][label][:DRAWN]])
        for label in groups
        for by in RANKS
    ]
    title = f"The {DRAWN} functions with the longest total and self time, of all threads"
    return Outcome(tables, _claims(groups, ranked), bars(title, "s", shown))


def _table(by: str, ranked: Ranked) -> Table:
    what = {"total": "total time", "self": "self time without waiting for a peer"}[by]
    rows = [
        [label, *(f"{name} {seconds(round(time))}" for name, time in found[:TOP])]
        for label, found in ranked.items()
    ]
    names = [str(place) for place in range(1, TOP + 1)]
    title = f"Functions by {what}, of all threads; medians over repeats"
    return Table(title, ["workload", *names], rows, names=TOP + 1)


def _everywhere(ranked: Mapping[str, Ranked]) -> Table:
    """Functions that are among the first of every workload."""
    rows = []
    for by, of in ranked.items():
        tops = [{name for name, _ in found[:TOP]} for found in of.values()]
        names = sorted(set.intersection(*tops)) if tops else []
        rows.append([by, ", ".join(names) or "none"])
    return Table(f"Functions among the first {TOP} of every workload", ["by", "functions"], rows, 2)


def _rank(found: Sequence[tuple[str, float]], name: str) -> int:
    return next((at for at, (one, _) in enumerate(found, 1) if one == name), len(found) + 1)


def _claims(groups: Mapping[str, Sequence[StudyRun]], ranked: Mapping[str, Ranked]) -> list[Claim]:
    found = [claim for by in RANKS for claim in (_first(by, ranked[by]), _second(by, ranked[by]))]
    return [*found, _local(ranked["total"]), _client(groups), _bayes(ranked["total"])]


def _bayes(ranked: Ranked) -> Claim:
    says = "of Bayes the largest delay is BlockSender#sendBlock: by total time"
    if _OTHER not in ranked:
        return Claim(says, ClaimVerdict.unknown, f"{_OTHER} runs on Spark and was not asked for")
    found = ranked[_OTHER]
    place, (first, time) = _rank(found, SEND), found[0]
    verdict = ClaimVerdict.agrees if place == 1 else ClaimVerdict.differs
    return Claim(says, verdict, f"{SEND} is at place {place}; {first} has {seconds(round(time))}")


def _first(by: str, ranked: Ranked) -> Claim:
    says = f"FileSystem#createFileSystem has the largest delay of {', '.join(_SAME)}: by {by} time"
    here = [label for label in _SAME if label in ranked]
    if not here:
        return Claim(says, ClaimVerdict.unknown, "none of them was run")
    places = {label: _rank(ranked[label], CREATE) for label in here}
    told = ", ".join(f"{label}: place {place}" for label, place in places.items())
    above = {name for label in here for name, _ in ranked[label][: places[label] - 1][:TOP]}
    if not above:
        return Claim(says, ClaimVerdict.agrees, told)
    why = f"{told}; before it {', '.join(sorted(above))}"
    if by == "total":
        why += ": a DataNode waits in them for a client that computes while it writes or reads"
    return Claim(says, ClaimVerdict.differs, why)


def _second(by: str, ranked: Ranked) -> Claim:
    says = f"of WordCount the second largest delay is DFSOutputStream#close: by {by} time"
    if "wordcount" not in ranked:
        return Claim(says, ClaimVerdict.unknown, "wordcount was not run")
    place = _rank(ranked["wordcount"], CLOSE)
    time = dict(ranked["wordcount"]).get(CLOSE, 0.0)
    verdict = ClaimVerdict.agrees if place == 2 else ClaimVerdict.differs
    return Claim(says, verdict, f"{CLOSE} is at place {place} with {seconds(round(time))}")


def _local(ranked: Ranked) -> Claim:
    says = "of WordCount local I/O is negligible, flushing on the DataNode too short to measure"
    if "wordcount" not in ranked:
        return Claim(says, ClaimVerdict.unknown, "wordcount was not run")
    times = dict(ranked["wordcount"])
    local, create = sum(times.get(name, 0.0) for name in LOCAL), times.get(CREATE, 0.0)
    verdict = ClaimVerdict.agrees if local < _LITTLE * create else ClaimVerdict.differs
    why = f"writing, flushing and syncing of DataNodes {seconds(round(local))}"
    return Claim(says, verdict, f"{why}, creating file systems {seconds(round(create))}")


def _outside(sample: StudyRun) -> float:
    """The share of self time that is not of NameNode and DataNodes."""
    others = sample.measured["others"]
    waiting = sum(_time(sample, name, "self") for name in WAIT_FOR_READER)
    servers = sample.measured["servers"] - waiting
    return float(others / max(1, others + servers))


def _client(groups: Mapping[str, Sequence[StudyRun]]) -> Claim:
    says = "the bottleneck is in the client node, not in NameNode or DataNode"
    shares = {label: median(map(_outside, of)) for label, of in groups.items()}
    told = ", ".join(f"{label} {percent(share)}" for label, share in shares.items())
    verdict = (
        ClaimVerdict.agrees
        if all(share > 0.5 for share in shares.values())
        else ClaimVerdict.differs
    )
    return Claim(says, verdict, f"self time outside of NameNode and DataNode: {told}")


FUNCTIONS = Study(
    name="functions",
    about="top functions by total and self time across workloads",
    source='S2: Liu et al., NPC 2018, section 3.2, "Across Workloads"',
    differences=(
        "the jobs are Hadoop's own examples and the algorithms of HiBench on Spark, not "
        "HiBench itself; jobs of Spark run only when you ask for them (jobs), at a size of "
        "their own",
        "client, NameNode, DataNodes and tasks share one machine, not seven",
        "functions are operations of a layer; rpc and java (files, sockets) are ranked as well",
        "every call counts; the paper sampled 5 % of machine learning",
        "what only waits for a peer (`WAITING_OPERATIONS` of analyse/waiting.py, "
        "reading a pipe) is not ranked; neither is the self time of "
        f"{' and '.join(WAIT_FOR_READER)}, which wait for the reader of a block",
    ),
    parameters=PARAMETERS,
    plan=_plan,
    measure=_measure,
    conclude=_conclude,
)
