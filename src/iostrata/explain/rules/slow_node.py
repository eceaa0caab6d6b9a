"""A node whose tasks take longer than the same work elsewhere."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.peers import MeanNs, beside_others
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, Workforce, rule
from iostrata.records import Count, Ns, Record
from iostrata.text import seconds

TIMES = 1.6
LEAST = 2  # attempts of a role on a host


class HostAttempts(Record, frozen=True):
    """Attempts of a job, role and stage of Spark on a host; `others`: the median of the means of
    all other hosts.
    """

    job: str
    role: str
    stage: str
    host: str
    attempts: Count
    time: Ns
    mean: MeanNs
    others: MeanNs | None


def evidence(workforce: Workforce) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.role.isin(workforce.roles), rows.dur.notnull())
    names = ("job", "stage", "host")
    rows = rows.mutate(**{name: rows[name].fill_null("") for name in names})
    hosts = rows.group_by("job", "role", "stage", "host").agg(
        attempts=rows.count(), time=rows.worked.sum().cast("int64")
    )
    hosts = hosts.filter(hosts.attempts >= LEAST).mutate(mean=hosts.time / hosts.attempts)
    return beside_others(hosts, "mean", "host", "job", "role", "stage").order_by(
        "job", "role", "stage", "host"
    )


@rule(
    title="A node is slow",
    evidence=Query(evidence, HostAttempts),
    why="Tasks are spread evenly. The tasks of a slow node end last, and the job waits for them.",
    unless="its tasks had more to do (skew), or it is slower by design.",
    explains=("straggler", "speculation", "shuffle-skew", "fs-creation", "short-tasks"),
    of_imports=True,
)
def judge(rows: list[HostAttempts], facts: RunFacts) -> Judgement | None:
    slow = [row for row in rows if row.others is not None and row.mean > TIMES * row.others]
    worst = max(slow, key=_cost, default=None)
    if worst is None:
        return None
    role, host, mean, others = worst.role, worst.host, worst.mean, worst.others or 0
    # of all jobs that ran there
    cost = sum(_cost(row) for row in slow if (row.role, row.host) == (role, host))
    return Judgement(
        share=facts.share(cost),
        text=f"{role} attempts took {seconds(int(mean))} on average on host {host}, and "
        f"{seconds(int(others))} on other hosts",
        evidence=[
            Evidence("host", host, "text"),
            Evidence(f"{role} attempts on this host", worst.attempts, "count"),
            Evidence("average time of an attempt on this host", int(mean), "ns"),
            Evidence("average time of an attempt on other hosts", int(others), "ns"),
        ],
        change=[
            Change("find out what else uses the cores, the memory or the disks of the host"),
            Change(
                "take the host out until it is repaired", "yarn.resourcemanager.nodes.exclude-path"
            ),
        ],
        gain=(0.3, 1.0),
    )


def _cost(row: HostAttempts) -> float:
    return (row.mean - (row.others or 0)) * row.attempts
