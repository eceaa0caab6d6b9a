"""Clusters that `record --lab` knows by name. Another package brings them, by an entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from iostrata.errors import UserError

GROUP = "iostrata.clusters"  # of entry points: a function from a name to a RecordedCluster


class RecordedCluster(Protocol):
    """A cluster that is up, and whose daemons have loaded the agent."""

    @property
    def directory(self) -> Path:
        """Of its collector, which may have ended."""

    def environment(self) -> dict[str, str]:
        """What a command finds that is recorded on it."""

    def daemons(self) -> list[tuple[str, int]]:
        """Role and pid of each process that a run must have traced."""

    def survey(self, jobs: Sequence[str]) -> dict[str, Any]:
        """See record.session.Survey."""


def cluster_named(name: str) -> RecordedCluster:
    """The cluster; raises UserError when there is none, or nothing that knows clusters."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        named: Callable[[str], RecordedCluster] = point.load()
        return named(name)
    raise UserError("labs are in a package of their own", "pip install iostrata-lab")
