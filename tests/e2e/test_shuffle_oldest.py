"""The shuffle of Hadoop 3.3, which has another server for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import Count, Verifies
from tests.e2e.labs import OLDEST, Labs
from tests.e2e.shuffle import (
    PARTS,
    Job,
    Node,
    check_bytes,
    check_trees,
    chunks,
    lab_with_words,
    recorded,
    with_tls,
)

pytestmark = pytest.mark.cluster

ON_DISK = "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.00001"


@pytest.fixture(scope="module")
def oldest(labs: Labs) -> Iterator[tuple[Cluster, Node]]:
    """Hadoop 3.3, which serves the shuffle with Netty 3, and here through TLS."""
    with lab_with_words(labs, *OLDEST) as found:
        with_tls(found[0])
        found[1].restart("yarn", "nodemanager")
        yield found


@pytest.fixture(scope="module")
def from_oldest(oldest: tuple[Cluster, Node]) -> Job:
    return recorded(oldest[0], "oldest", ON_DISK)


def test_the_oldest_version(from_oldest: Job, verifies: Verifies) -> None:
    check_trees(from_oldest, "read")
    check_bytes(from_oldest)
    requests = from_oldest.requests()
    expected: dict[int, Count] = {
        235: PARTS,
        255: requests,
        # For each part at once, and each part but the last of a request when it has gone.
        256: 2 * PARTS - requests,
        257: PARTS,
        258: chunks(from_oldest),
    }
    verifies(from_oldest.run, expected)
