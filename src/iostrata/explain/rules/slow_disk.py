"""A DataNode whose disks take longer for the same steps than those of its peers."""

from __future__ import annotations

from iostrata.analyse.peers import PeerDisk, slow_disks
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.replay.hardware import even_disks
from iostrata.text import seconds

TIMES = 3.0


@rule(
    title="The disks of a DataNode are slow",
    evidence=Query(lambda _: slow_disks(), PeerDisk),
    why="A pipeline is as fast as its slowest DataNode. Each block with a replica there waits.",
    unless="this DataNode also does other work, which can be moved elsewhere.",
    explains=(
        "disk-bound",
        "straggler",
        "speculation",
        "slow-node",
        "datanode-sync",
        "slow-network",
        "frequent-flush",
    ),
)
def judge(rows: list[PeerDisk], facts: RunFacts) -> Judgement | None:
    cost: dict[str, float] = {}
    steps: dict[str, list[str]] = {}
    for row in rows:
        name, mean, others = _name(row), row.mean, row.others
        if others is not None and mean > TIMES * others:
            cost[name] = cost.get(name, 0) + (mean - others) * row.calls
            steps.setdefault(name, []).append(
                f"{row.op} takes {seconds(int(mean))} (on others {seconds(int(others))})"
            )
    if not cost:
        return None
    worst = max(cost, key=lambda name: cost[name])
    return Judgement(
        share=facts.share(cost[worst]),
        text=f"the disks of DataNode {worst} took {seconds(int(cost[worst]))} longer than those "
        f"of other DataNodes for the same steps: {', '.join(steps[worst])}",
        evidence=[
            Evidence("DataNode", worst, "text"),
            Evidence("extra time of its disks", int(cost[worst]), "ns"),
            *(Evidence("average time of a step", step, "text") for step in steps[worst]),
        ],
        change=[
            Change("check the health and the load of the disk (smartctl, iostat)"),
            Change(
                "let the NameNode avoid slow disks",
                "dfs.namenode.max.slowpeer.collect.nodes",
            ),
            Change("take the volume out of use", "dfs.datanode.data.dir"),
        ],
        gain=(0.4, 1.0),
        tries=(even_disks(),),
    )


def _name(row: PeerDisk) -> str:
    """The host and a part of the process number; imported calls may have none."""
    return str(row.host) if row.proc is None else f"{row.host}/{row.proc & 0xFFFF:04x}"
