"""A node whose tasks take longer than the same work elsewhere."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import beside_others
from iostrata.text import seconds

TIMES = 1.6
LEAST = 2  # attempts of a role on a host


def evidence(scope: Scope) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.role.isin(scope.roles), rows.dur.notnull())
    found = rows.group_by("role", "host").agg(
        attempts=rows.count(), time=rows.worked.sum().cast("int64")
    )
    return found.order_by("role", "host")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    worst = None
    for role in {row["role"] for row in rows}:
        of_role = [row for row in rows if row["role"] == role and row["attempts"] >= LEAST]
        means = {row["host"]: row["time"] / row["attempts"] for row in of_role}
        for host, (mean, others) in beside_others(means).items():
            number = next(row["attempts"] for row in of_role if row["host"] == host)
            cost = (mean - others) * number
            if mean > TIMES * others and (worst is None or cost > worst[0]):
                worst = (cost, role, host, mean, others, number)
    if worst is None:
        return None
    cost, role, host, mean, others, number = worst
    return Seen(
        share=facts.share(cost),
        text=f"{role} attempts on {host} took {seconds(int(mean))} on average, on other hosts "
        f"{seconds(int(others))}",
        evidence=[
            Evidence("host", host, "text"),
            Evidence(f"{role} attempts on it", number, "count"),
            Evidence("time of one, on average", int(mean), "ns"),
            Evidence("on other hosts", int(others), "ns"),
        ],
        change=[
            Change("see what else takes the host's cores, memory or disks"),
            Change("take it out until it is mended", "yarn.resourcemanager.nodes.exclude-path"),
        ],
        gain=(0.3, 1.0),
    )


RULE = Rule(
    name="slow-node",
    title="A slow node",
    evidence=evidence,
    judge=judge,
    why="Tasks are given out evenly; those on a slow node end last, and the job waits for them.",
    unless="its tasks had more to do (skew), or it is slower by design.",
    explains=("straggler", "shuffle-skew", "fs-creation", "short-tasks"),
)
