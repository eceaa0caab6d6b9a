"""Writers that wait until HDFS has gone on without a DataNode that failed."""

from __future__ import annotations

from iostrata.analyse.pipelines import LostDataNode, blocks_of, departure, lost_datanodes
from iostrata.explain import Change, Evidence, Judgement, Query, RunFacts, rule
from iostrata.text import plural, seconds

_CHANGE = [
    Change(
        "find out why the DataNode failed: read the end of its log, look for the OOM killer in "
        "dmesg, and check the disks and the network of its host"
    ),
    Change(
        "have clients give up a DataNode that no longer answers sooner, if they waited for long",
        "dfs.client.socket-timeout",
        after="20000",
    ),
]
_GO_ON = Change(
    "let writers go on with fewer DataNodes where no other one can take the place",
    "dfs.client.block.write.replace-datanode-on-failure.best-effort",
    after="true",
)


@rule(
    title="A DataNode failed while blocks were written to it",
    evidence=Query(lambda workforce: lost_datanodes(workforce.roles), LostDataNode),
    why="A block goes through a pipeline of DataNodes. When one of them fails, the writer waits "
    "until the failure is noticed and the others have a new pipeline: milliseconds if a process "
    "died, a minute if a host no longer answers.",
    unless="the DataNode was stopped on purpose; hdfs dfsadmin -shutdownDatanode HOST:PORT upgrade "
    "has writers wait for one that is restarted.",
    explains=("frequent-flush", "datanode-sync", "failed-attempts", "slow-network", "straggler"),
)
def judge(rows: list[LostDataNode], facts: RunFacts) -> Judgement | None:
    worst = max(rows, key=lambda row: row.held, default=None)
    if worst is None:
        return None
    held = sum(row.held for row in rows)
    failed = sum(row.failed for row in rows)
    others = f" and {plural(len(rows) - 1, 'other DataNode')} failed" if len(rows) > 1 else ""
    writes = f"; {plural(failed, 'write')} failed" if failed else ""
    return Judgement(
        share=facts.share(held),
        text=f"{departure(worst, facts.begin)} ({blocks_of(worst)}){others}; writers waited "
        f"{seconds(held)} for new pipelines{writes}",
        evidence=[
            Evidence("DataNode", worst.datanode, "text"),
            Evidence("DataNodes that left pipelines", len(rows), "count"),
            Evidence("pipelines that they left", sum(row.pipelines for row in rows), "count"),
            Evidence("pipelines that recovered", sum(row.recovered for row in rows), "count"),
            Evidence("blocks begun anew elsewhere", sum(row.moved for row in rows), "count"),
            Evidence("writes that failed", failed, "count"),
            Evidence("time of writers until then", held, "ns"),
            Evidence("longest set-up of a new pipeline", _longest(rows), "ns"),
        ],
        change=[*_CHANGE, *([_GO_ON] if failed else [])],
        gain=(0.5, 1.0),
    )


def _longest(rows: list[LostDataNode]) -> int:
    return max(row.recovery or 0 for row in rows)
