"""A DataNode whose disks take longer for the same steps than those of its peers."""

from __future__ import annotations

from ibis.expr import types as ir

from iostrata.analyse.servers import disks
from iostrata.analyse.tables import Row
from iostrata.explain.facts import Facts, Scope
from iostrata.explain.finding import Change, Evidence, Rule, Seen
from iostrata.explain.rules.parts import beside_others
from iostrata.text import seconds

TIMES = 3.0
LEAST = 20  # timed calls of a step


def evidence(scope: Scope) -> ir.Table:
    return disks()


def judge(rows: list[Row], facts: Facts) -> Seen | None:
    cost: dict[str, float] = {}
    steps: dict[str, list[str]] = {}
    for op in sorted({row["op"] for row in rows}):
        of_op = {_name(row): row for row in rows if row["op"] == op and row["timed"] >= LEAST}
        means = {name: row["time"] / row["timed"] for name, row in of_op.items()}
        for name, (mean, others) in beside_others(means).items():
            if mean > TIMES * others:
                cost[name] = cost.get(name, 0) + (mean - others) * of_op[name]["calls"]
                steps.setdefault(name, []).append(
                    f"{op} {seconds(int(mean))} (others {seconds(int(others))})"
                )
    if not cost:
        return None
    worst = max(cost, key=lambda name: cost[name])
    return Seen(
        share=facts.share(cost[worst]),
        text=f"the disks of DataNode {worst} took {seconds(int(cost[worst]))} longer than those "
        f"of its peers for the same: {', '.join(steps[worst])}",
        evidence=[
            Evidence("DataNode", worst, "text"),
            Evidence("time beyond that of its peers", int(cost[worst]), "ns"),
            *(Evidence("a step, on average", step, "text") for step in steps[worst]),
        ],
        change=[
            Change("look at the disk's health and load (smartctl, iostat)"),
            Change(
                "let the NameNode keep away from slow disks",
                "dfs.namenode.max.slowpeer.collect.nodes",
            ),
            Change("take the volume out", "dfs.datanode.data.dir"),
        ],
        gain=(0.4, 1.0),
    )


def _name(row: Row) -> str:
    """The host and a part of the process number; imported calls may have none."""
    return str(row["host"]) if row["proc"] is None else f"{row['host']}/{row['proc'] & 0xFFFF:04x}"


RULE = Rule(
    name="slow-disk",
    title="A slow disk",
    evidence=evidence,
    judge=judge,
    why="A pipeline is as fast as its slowest DataNode: each block that has a replica there waits.",
    unless="that DataNode does other work at the same time that can be moved.",
    explains=("straggler", "slow-node", "datanode-sync", "slow-network", "frequent-flush"),
)
