"""A node whose tasks take longer than the same work elsewhere."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.attempts import attempts
from iostrata.analyse.peers import beside_others
from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.text import seconds

TIMES = 1.6
LEAST = 2  # attempts of a role on a host


def evidence(scope: Scope) -> ir.Table:
    rows = attempts()
    rows = rows.filter(rows.role.isin(scope.roles), rows.dur.notnull())
    rows = rows.mutate(host=rows.host.fill_null(""))
    found = rows.group_by("role", "host").agg(
        attempts=rows.count(), time=rows.worked.sum().cast("int64")
    )
    found = found.filter(found.attempts >= LEAST).mutate(mean=found.time / found.attempts)
    return beside_others(found, "mean", among="role", who="host").order_by("role", "host")


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    beside = [row for row in rows if row["others"] is not None]
    slow = [row for row in beside if row["mean"] > TIMES * row["others"]]
    worst = max(slow, key=_cost, default=None)
    if worst is None:
        return None
    role, host, mean, others = (worst[name] for name in ("role", "host", "mean", "others"))
    return Seen(
        share=facts.share(_cost(worst)),
        text=f"{role} attempts on {host} took {seconds(int(mean))} on average, on other hosts "
        f"{seconds(int(others))}",
        evidence=[
            Evidence("host", host, "text"),
            Evidence(f"{role} attempts on it", worst["attempts"], "count"),
            Evidence("time of one, on average", int(mean), "ns"),
            Evidence("on other hosts", int(others), "ns"),
        ],
        change=[
            Change("see what else takes the host's cores, memory or disks"),
            Change("take it out until it is mended", "yarn.resourcemanager.nodes.exclude-path"),
        ],
        gain=(0.3, 1.0),
    )


def _cost(row: Row) -> float:
    return float((row["mean"] - row["others"]) * row["attempts"])


RULE = Rule(
    name="slow-node",
    title="A slow node",
    evidence=evidence,
    judge=judge,
    why="Tasks are given out evenly; those on a slow node end last, and the job waits for them.",
    unless="its tasks had more to do (skew), or it is slower by design.",
    explains=("straggler", "shuffle-skew", "fs-creation", "short-tasks"),
)
