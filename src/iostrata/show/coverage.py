"""What should have been traced, and what was: processes, DataNodes and attempts of jobs.

Three sources: the /proc of every host with a collector (the processes of a run), the NameNode's
list of DataNodes, and the job histories. The recorder asked the last two when the command had
ended, see record.session.Survey; of a history it took names of attempts and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iostrata.schema.roles import SERVERS
from iostrata.store.opened import OpenedRun

Row = dict[str, Any]

# Their rows name the attempts they worked for, traced or not.


@dataclass(frozen=True)
class Coverage:
    """How much of a run was traced."""

    processes: list[Row]  # of the processes table
    datanodes: list[Row] | None  # name, host, pid (or None), traced; None: nobody was asked
    attempts: list[str] | None  # started by all the run's jobs; None: nobody was asked
    missing_attempts: list[str]  # those of which `processes` has none
    unasked: list[str]  # who was asked and did not answer

    @property
    def traced(self) -> int:
        """Processes with an agent that recorded."""
        return sum(1 for process in self.processes if process["traced"])

    @property
    def total(self) -> int:
        """Processes that should have one; an attempt that no process reported was one too."""
        return len(self.processes) + len(self.missing_attempts)

    @property
    def missing_datanodes(self) -> list[Row]:
        """Those that the NameNode lists and no traced process is."""
        return [node for node in self.datanodes or () if not node["traced"]]

    def as_dict(self) -> Row:
        """JSON values."""
        return {
            "total": self.total,
            "traced": self.traced,
            "not_traced": [row for row in self.processes if not row["traced"]],
            "list": self.processes,
            "datanodes": self.datanodes,
            "attempts": self.attempts,
            "missing_attempts": self.missing_attempts,
            "unasked": self.unasked,
        }


def coverage(opened: OpenedRun, processes: list[Row]) -> Coverage:
    """Compares the processes of a run with what its cluster listed."""
    cluster = opened.run.cluster
    listed, histories = cluster.get("datanodes"), cluster.get("attempts")
    attempts = None
    if histories is not None:
        attempts = sorted(attempt for job in histories.values() for attempt in job)
    reported = {process["task"] for process in processes}
    reported |= {row["task"] for row in opened.rows(_TASKS)}
    return Coverage(
        processes=processes,
        datanodes=None if listed is None else match(listed, processes),
        attempts=attempts,
        missing_attempts=[attempt for attempt in attempts or () if attempt not in reported],
        unasked=list(cluster.get("unasked") or ()),
    )


def match(listed: list[Row], processes: list[Row]) -> list[Row]:
    """The listed DataNodes, each with `traced`.

    One whose process is known is traced if that process is; of the others of a host, as many as
    the host has traced DataNodes left.
    """
    left = [(p["host"], p["pid"]) for p in processes if p["traced"] and p["role"] == "DataNode"]
    found = []
    for node in sorted(listed, key=lambda node: node.get("pid") is None):
        candidates = (one for one in left if one[0] == node["host"])
        if node.get("pid") is not None:
            candidates = (one for one in candidates if one[1] == node["pid"])
        one = next(candidates, None)
        if one is not None:
            left.remove(one)
        found.append({**node, "traced": one is not None})
    return sorted(found, key=lambda node: str(node["name"]))


# An attempt inside its ApplicationMaster (uber mode) has rows, but no process of its own.
_TASKS = f"""
    SELECT DISTINCT task FROM sums
    WHERE task IS NOT NULL AND coalesce(role, '') NOT IN ({", ".join(f"'{d}'" for d in SERVERS)})"""
