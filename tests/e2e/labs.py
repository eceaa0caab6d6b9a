"""Labs that files share: a worker has one, and keeps it while the next file wants its like.

GROUPS says which files follow each other on one worker, so that each kind of lab is started once.
A file that changes its lab for good (kills daemons, rewrites their configuration) closes it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack

import pytest
from tests.e2e.cluster import Cluster, lab_up

# Two DataNodes; the property makes them call what they otherwise call only under load.
TWO = ("--datanodes", "2", "--conf", "dfs.datanode.sync.behind.writes=true")
UNTRACED = ("--no-agent",)
OLDEST = ("--version", "3.3.6", "--datanodes", "2")

# Those that take longest first; the last of a group may spoil its lab.
GROUPS: tuple[tuple[str, ...], ...] = (
    ("test_truth_mapreduce", "test_truth_levels", "test_requests", "test_sampling"),
    ("test_workloads", "test_spark", "test_tfidf", "test_coexistence", "test_java_layer")
    + ("test_shuffle",),
    ("test_versions", "test_shuffle_oldest"),
    ("test_faults",),
    ("test_truth", "test_findings", "test_what_if", "test_points", "test_complete"),
    (
        "test_swim",
        "test_untraced_servers",
        "test_tfs",
        "test_predict_hdfs",
        "test_attach",
        "test_prepare",
    ),
    ("test_soak",),
    ("test_storage",),
    ("test_cluster",),  # of the lab itself
    ("test_nodes",),
    ("test_studies",),
    ("test_causes",),
    ("test_ownership",),
    ("test_loader",),
    # the same users are in all of these, and a limit of processes counts all of a user's
    ("test_shared_node", "test_limits", "test_containers", "test_floods"),
)
PLACES = {name: (n, m) for n, group in enumerate(GROUPS) for m, name in enumerate(group)}


class Labs:
    """The lab of a worker."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._running = ExitStack()
        self._options: Sequence[str] | None = None
        self._lab: Cluster | None = None
        self._started = 0

    def at(self, *options: str) -> Cluster:
        """A lab of that kind, which others have used or will; its folder is the caller's own.

        Names of runs and of files in HDFS are to be different in all files that share it.
        """
        if self._lab is None or self._options != options:
            self.close()
            folder = self._folders.mktemp("lab")
            name = f"e2e-{os.getpid()}-{self._started}"
            self._started += 1
            self._lab = self._running.enter_context(lab_up(folder, name, *options))
            self._options = options
        found = Cluster(self._lab.name, self._folders.mktemp("on-lab"))
        found.store = self._lab.store
        found.environment = dict(self._lab.environment)
        return found

    def close(self) -> None:
        """Ends the lab; the next who asks gets another one."""
        self._lab = self._options = None
        self._running.close()


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """By group and place in it, then all other files as they are; each gets the mark of xdist."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    return sorted(items, key=lambda item: PLACES.get(item.path.stem, (len(GROUPS), 0)))


def group_of(item: pytest.Item) -> str:
    """What one worker does in a row."""
    place = PLACES.get(item.path.stem)
    return f"lab-{place[0]}" if place else item.path.stem
